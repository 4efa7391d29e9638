import { render } from "preact";
import "./style/index.css";
import { Shell } from "./shell/shell.tsx";
import { follow } from "./state/live.ts";
import { begin } from "./state/session.ts";

const root = document.getElementById("app");
if (root !== null) {
  void begin().then((problem) => {
    follow();
    render(<Shell problem={problem} />, root);
  });
}
