// Times, durations and values for people: every time shown is absolute and local, with its zone.

/** An RFC 3339 time as local date and time with the zone's name. */
export function localTime(iso, tag) {
  const time = new Date(iso);
  if (Number.isNaN(time.getTime())) return String(iso ?? "");
  const options = { year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", timeZoneName: "short" };
  return new Intl.DateTimeFormat(tag, options).format(time);
}

/** Milliseconds as `320 ms` or `1.2 s`. */
export function duration(ms) {
  if (ms === null || ms === undefined) return "–";
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

/** `start_date` → `Start date`; Chinese names stay as they are. */
export function humanName(name) {
  const words = String(name).replace(/[_-]+/g, " ").trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A JSON value as one line of text; objects as `name: value` pairs. */
export function plainValue(value, { t }) {
  if (value === null || value === undefined || value === "") return "–";
  if (typeof value === "boolean") return t(value ? "yes" : "no");
  if (Array.isArray(value)) return value.map((item) => plainValue(item, { t })).join(", ");
  if (typeof value === "object") {
    return Object.entries(value).map(([name, item]) => `${humanName(name)}: ${plainValue(item, { t })}`).join("; ");
  }
  return String(value);
}
