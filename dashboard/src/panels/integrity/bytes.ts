// Formats sizes for people.

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

/** Formats `1536` as `1.5 KiB`. */
export function bytes(count: number): string {
  let value = count;
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  const text = unit === 0 || value >= 100 ? Math.round(value) : Number(value.toPrecision(3));
  return `${text} ${UNITS[unit] ?? "B"}`;
}
