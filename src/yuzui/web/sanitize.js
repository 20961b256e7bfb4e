// Rebuilds the server's already sanitised HTML from an allow list. What is not named here does not reach the page.

const KEPT = new Set(
  ("a abbr b blockquote br code dd del div dl dt em h1 h2 h3 h4 h5 h6 hr i img kbd li mark ol p pre s span strong sub sup " +
    "table tbody td tfoot th thead tr u ul").split(" "),
);
const DROPPED = new Set(
  ("applet audio base button canvas embed form frame frameset head iframe input link math meta noscript object option " +
    "script select source style svg template textarea title track video").split(" "),
);
const ATTRIBUTES = { a: ["href", "title"], img: ["src", "alt"], ol: ["start"], td: ["colspan", "rowspan"], th: ["colspan", "rowspan"] };
const DEEPEST = 60;

/** A safe address for a link, or null. Relative addresses stay on this origin. */
function safeLink(value) {
  try {
    const url = new URL(value, document.baseURI);
    return ["http:", "https:", "mailto:"].includes(url.protocol) ? url.href : null;
  } catch {
    return null; // not an address at all
  }
}

/** Only pictures inside the text: an outside one would tell its host who reads the answer. */
function safePicture(value) {
  return /^data:image\/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=\s]+$/.test(value) ? value : null;
}

function copyAttributes(from, to, tag) {
  for (const name of ATTRIBUTES[tag] ?? []) {
    const raw = from.getAttribute(name);
    if (raw === null) continue;
    const value = name === "href" ? safeLink(raw) : name === "src" ? safePicture(raw) : raw;
    if (value !== null) to.setAttribute(name, value);
  }
  if (tag === "a" && to.hasAttribute("href")) {
    to.setAttribute("target", "_blank");
    to.setAttribute("rel", "noopener noreferrer nofollow");
  }
}

function copyChildren(from, to, depth) {
  for (const node of from.childNodes) {
    if (node.nodeType === Node.TEXT_NODE) to.append(node.data);
    else if (node.nodeType === Node.ELEMENT_NODE) copyElement(node, to, depth);
  }
}

function copyElement(element, to, depth) {
  const tag = element.localName;
  if (DROPPED.has(tag) || element.namespaceURI !== "http://www.w3.org/1999/xhtml") return;
  if (depth > DEEPEST) return void to.append(element.textContent);
  if (!KEPT.has(tag)) return copyChildren(element, to, depth + 1);
  const copy = document.createElement(tag);
  copyAttributes(element, copy, tag);
  if (tag === "img" && !copy.hasAttribute("src")) return void to.append(element.getAttribute("alt") ?? "");
  copyChildren(element, copy, depth + 1);
  to.append(copy);
}

/** A fragment with the allowed part of `html`; scripts, handlers, styles and outside pictures are gone. */
export function safeFragment(html) {
  const parsed = new DOMParser().parseFromString(html, "text/html");
  const fragment = document.createDocumentFragment();
  copyChildren(parsed.body, fragment, 0);
  return fragment;
}
