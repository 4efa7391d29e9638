#!/bin/sh
# A notifier: teamlog subscribe TEAM alerts --kind task_failed --exec ./notify.sh
printf '%s: task %s of %s\n' "$TEAMLOG_EVENT_KIND" "$TEAMLOG_EVENT_TASK" "$TEAMLOG_TEAM" >> "${NOTIFY_FILE:-alerts.txt}"
