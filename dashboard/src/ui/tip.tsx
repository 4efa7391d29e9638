// A box beside a hovered or focused element, for more text than a title can have.

import { autoUpdate, computePosition, flip, offset, shift } from "@floating-ui/dom";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { ComponentChildren, JSX } from "preact";

export const Tip = ({ tip, children }: { tip: ComponentChildren; children: ComponentChildren }): JSX.Element => {
  const id = useId();
  const [open, setOpen] = useState(false);
  const anchor = useRef<HTMLSpanElement>(null);
  const box = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    const from = anchor.current;
    const to = box.current;
    if (!open || from === null || to === null) return;
    return autoUpdate(from, to, () => {
      void computePosition(from, to, { strategy: "fixed", placement: "bottom-start", middleware: [offset(6), flip(), shift({ padding: 8 })] }).then(({ x, y }) => {
        to.style.left = `${x}px`;
        to.style.top = `${y}px`;
      });
    });
  }, [open]);
  return (
    <span
      ref={anchor}
      class="tip-anchor"
      aria-describedby={open ? id : undefined}
      onMouseEnter={() => setOpen(true)}
      onMouseLeave={() => setOpen(false)}
      onFocusIn={() => setOpen(true)}
      onFocusOut={() => setOpen(false)}
      onKeyDown={(event) => {
        if (event.key === "Escape" && open) {
          event.stopPropagation();
          setOpen(false);
        }
      }}
    >
      {children}
      {open && <span ref={box} id={id} role="tooltip" class="tip">{tip}</span>}
    </span>
  );
};
