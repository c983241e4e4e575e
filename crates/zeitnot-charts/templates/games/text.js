"use strict";

// Elements and texts of the page. The scripts follow one another in one element.

const $ = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";
const WORDS = {
  blunder: "blunder", mistake: "mistake", inaccuracy: "inaccuracy", trouble: "time trouble",
  bought_nothing: "long thought that bought nothing", went_wrong: "long thought that missed a better move",
  needed_one: "instant move that needed a thought", ran_down: "the clock ran down",
};
const TAGS = { bought_nothing: "long", went_wrong: "long", needed_one: "instant" };

// A text of the analysis, without the characters that turn the direction of what stands behind them.
const plain = (value) => String(value).replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "")
  .replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, " ");

// The only place where elements are made: texts become text, never markup. A child that is null is left out.
function make(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(key, value);
    else if (known(value)) node.setAttribute(key, plain(value));
  }
  node.append(...children.flat().filter(known).map((child) => child instanceof Node ? child : plain(child)));
  return node;
}
const el = (name, attributes = {}, ...children) => make(document.createElement(name), attributes, children);
const svg = (name, attributes = {}, ...children) => make(document.createElementNS(SVG, name), attributes, children);
const path = (kind, d) => svg("path", { class: kind, d });
const rect = (kind, x, y, width, height) => svg("rect", { class: kind, x, y, width, height });
const mark = (node, on) => on ? node.setAttribute("aria-current", "true") : node.removeAttribute("aria-current");

const known = (value) => value !== null && value !== undefined;
const fixed = (value, digits) => known(value) ? value.toFixed(digits) : "–";
const percent = (value) => known(value) ? `${Math.round(value)}\u00a0%` : "unknown";
const capital = (word) => word[0].toUpperCase() + word.slice(1);
const two = (value) => String(value).padStart(2, "0");

// What a clock shows: 2:07, 1:30:00.
function clockText(ms) {
  const seconds = Math.floor(ms / 1000), minutes = Math.floor(seconds / 60);
  const hours = minutes >= 60 ? `${Math.floor(minutes / 60)}:` : "";
  return `${hours}${hours ? two(minutes % 60) : minutes}:${two(seconds % 60)}`;
}
function span(ms) {
  if (ms < 9950) return `${(ms / 1000).toFixed(1)} s`;
  return ms < 59500 ? `${Math.round(ms / 1000)} s` : clockText(Math.round(ms / 1000) * 1000);
}
function evalText(value) {
  if (value.mate === 0) return "mate";
  if (known(value.mate)) return `mate in ${Math.abs(value.mate)} for ${value.mate > 0 ? "White" : "Black"}`;
  return `${value.cp < 0 ? "−" : "+"}${(Math.abs(value.cp) / 100).toFixed(2)}`;
}
const inBrackets = (value) => value ? ` (${evalText(value)})` : null;
const numbered = (move) => `${move.number}${move.color === "white" ? "." : "…"} ${move.san}`;
