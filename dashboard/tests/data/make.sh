#!/usr/bin/env bash
# Makes team.jsonl: the history of a team of four agents over a morning, for pictures. Commands give it its events, and
# spread.mjs the times that such a morning has. Run it again only where the pictures should tell something else.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
teamlog=${TEAMLOG:-teamlog}
TEAMLOG_DATA_ROOT=$(mktemp -d)
export TEAMLOG_DATA_ROOT
trap 'rm -rf "$TEAMLOG_DATA_ROOT"' EXIT
t() { "$teamlog" "$@" >/dev/null; }
lead() { t --actor lead "$@"; }
epoch() { "$teamlog" --json task show shop "$1" | grep -o '"epoch":[0-9]*' | head -1 | cut -d: -f2; }
finish() { t --actor "$2" task complete shop "$1" --worker "$2" --epoch "$(epoch "$1")" --result "$3"; }

lead init shop --members lead,ada,bob,cyd,dan
lead usage shop --set --max-tokens 2000000 --soft-limit 1500000 --hard-limit
lead mode start shop blueprint --task 'Plan the checkout' --session plan-1
lead task create shop --task-id C-1 --subject 'Model of the cart' --trace-id tr-checkout --priority high --resource src/cart/
lead task create shop --task-id C-2 --subject 'Prices and taxes' --trace-id tr-checkout --blocked-by C-1 --resource src/prices/
lead task create shop --task-id C-3 --subject 'Payment provider' --trace-id tr-checkout --priority critical --resource src/payment/
lead task create shop --task-id C-4 --subject 'Checkout page' --trace-id tr-checkout --blocked-by C-1,C-2,C-3 --resource web/checkout/
lead task create shop --task-id C-5 --subject 'Load test of the checkout' --trace-id tr-checkout --blocked-by C-4
lead task create shop --task-id L-1 --subject 'Old links of the catalogue' --trace-id tr-links --priority low
lead task create shop --task-id L-2 --subject 'Redirects' --trace-id tr-links --blocked-by L-1
t task claim shop C-1 --worker ada --lease-ms 3600000
t usage shop --report --agent ada --task-id C-1 --tokens 41000
lead thread start shop --title 'Where do discounts go?' --participants ada,bob,lead --task-id C-1 --trace-id tr-checkout
t thread post shop thread-0001 'Into the cart, or into the prices?' --agent ada
t thread post shop thread-0001 'Into the prices: the cart should know nothing of them.' --agent bob
t task claim shop C-3 --worker bob --lease-ms 3600000
t usage shop --report --agent bob --task-id C-3 --tokens 65000
t task-assign shop --from lead --to cyd --task-id N-1 --subject 'Release notes' --trace-id tr-notes
t task-update shop --from cyd --to lead --task-id N-1 --status in_progress --progress 40%
t task-update shop --from cyd --to lead --task-id N-1 --status blocked --created-at 2026-01-01T00:00:00Z
t send shop --from cyd --to ada --type handoff --trace-id tr-notes
t task claim shop L-1 --worker dan --lease-ms 3600000
t task-update shop --from dan --to lead --task-id L-1 --progress 10% --note 'half of them lead nowhere'
t usage shop --report --agent dan --task-id L-1 --tokens 12000
lead mode complete shop blueprint --session plan-1
lead mode start shop team --task 'Build the checkout' --session build-1
finish C-1 ada 'cart with 14 tests'
t usage shop --report --agent ada --task-id C-1 --tokens 88000
t task claim shop C-2 --worker ada --lease-ms 3600000
t task-update shop --from bob --to lead --task-id C-3 --blocked --note 'needs the key of the sandbox' --progress 60%
t --actor leader-fixed task cancel shop L-1 --force --reason 'the catalogue is replaced'
t append shop --kind build_failed --actor ci --trace-id tr-checkout --task-id C-2 --data '{"exit":101,"test":"rounding"}'
t usage shop --report --agent cyd --task-id N-1 --tokens 30500
t send shop --from lead --to dan --type decision_required --require-ack --ack-timeout-seconds 1 --max-retries 0
sleep 1.2
lead tick shop
lead bootstrap start shop --run first --domains payments,catalogue
lead bootstrap record shop --run first --event team_create_returned --data '{"returned":"Already leading team shop"}'
lead task create shop --task-id S-1 --subject 'Sandbox of the provider' --trace-id tr-checkout
t task claim shop S-1 --worker lead --lease-ms 1000
t usage shop --report --agent bob --task-id C-3 --tokens 120000
t task-update shop --from ada --to lead --task-id C-2 --progress 70% --note 'rounding of half cents is open' --eta 12:30
t append shop --kind build_passed --actor ci --trace-id tr-checkout --task-id C-2 --data '{"exit":0}'
"$teamlog" export shop | node "$here/spread.mjs" >"$here/team.jsonl"
