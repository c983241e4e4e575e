// The words on a move, the list of moves and the moments to look at first.

const winAt = (index) => index === 0 ? game.start.win : game.moves[index - 1].win;
// The best move, where another one was played.
const bestOther = (move) => move?.best && move.best.san !== move.san ? move.best : null;
const marks = (move) => [move.judgement, move.time?.verdict, move.time?.in_trouble ? "trouble" : null].filter(known)
  .map((mark) => WORDS[mark]);
const glyph = (move) => move.glyph ? el("b", { class: move.judgement }, move.glyph) : null;

function lineText(move) {
  let { number } = move, white = move.color === "white";
  return move.best.line.map((san, index) => {
    const text = white ? `${number}. ${san}` : index === 0 ? `${number}… ${san}` : san;
    if (!white) number++;
    white = !white;
    return text;
  }).join(" ");
}

function drawNow() {
  const move = game.moves[ply - 1];
  $("now").replaceChildren(...move ? wordsOn(move) : [
    el("h3", {}, "Start position"),
    el("p", {}, `White's chance to win: ${percent(game.start.win)}`, inBrackets(game.start.eval)),
    ...ownNotes(0),
    el("p", { class: "soft" }, "Step with the arrow keys, or choose a moment, a move or a point of the curves."),
  ]);
}
function wordsOn(move) {
  const found = marks(move).join("; ");
  const said = [el("h3", {}, numbered(move), glyph(move), found ? `: ${found}` : null)];
  if (move.time?.words) said.push(el("p", { class: "said" }, move.time.words));
  if (known(move.win)) {
    const lost = move.expected_loss >= 0.005 ? `, lost ${percent(100 * move.expected_loss)}` : null;
    const own = (win) => percent(move.color === "white" || !known(win) ? win : 100 - win);
    said.push(el("p", {}, `${capital(move.color)}'s chance to win: ${own(winAt(ply - 1))} → ${own(move.win)}`, lost));
  }
  const best = bestOther(move);
  if (best) {
    said.push(el("p", {}, "Played: ", el("b", {}, move.san), inBrackets(move.eval)),
      el("p", {}, "Best: ", el("b", {}, best.san), inBrackets(best.eval)));
  } else if (move.best) said.push(el("p", {}, "The best move", inBrackets(move.eval)));
  else if (move.eval) said.push(el("p", {}, `Evaluation: ${evalText(move.eval)}`));
  if (move.best) said.push(el("p", { class: "soft" }, `Best line: ${lineText(move)}`));
  said.push(...ownNotes(move.ply));
  if (known(move.used_ms)) {
    const left = known(move.clock_ms) ? `, ${clockText(move.clock_ms)} left` : null;
    const usual = !move.time?.words && known(move.time?.usual_ms) ? `, usual ${span(move.time.usual_ms)}` : null;
    said.push(el("p", {}, `Time: ${span(move.used_ms)}`, left, usual));
  }
  return said;
}

// The game's own comments and variations.
function ownNotes(at) {
  const { comments = [], variations = [] } = game.notes?.[at] ?? {};
  return [...comments.map((text) => el("p", { class: "own" }, text)), ...variations.map((text) => el("p", { class: "own soft" }, text))];
}

function drawMoves() {
  const rows = [];
  for (const move of game.moves) {
    const white = move.color === "white";
    if (white || rows.length === 0) {
      const number = el("span", { "aria-hidden": "true" }, `${move.number}.`);
      rows.push(el("li", {}, number, white ? null : el("span", { "aria-hidden": "true" }, "…")));
    }
    rows.at(-1).append(moveButton(move));
  }
  $("move-list").replaceChildren(...rows);
}
function moveButton(move) {
  const time = known(move.used_ms) ? span(move.used_ms) : null, tag = TAGS[move.time?.verdict];
  const label = [numbered(move), ...marks(move), time].filter(known).join(", ");
  return el("button", { type: "button", "data-ply": move.ply, "aria-label": label, click: () => show(move.ply) },
    time ? el("small", { class: move.time?.in_trouble ? "hurry" : null }, time) : null, el("b", {}, move.san), glyph(move),
    ownNotes(move.ply).length ? el("span", { class: "soft", title: "has a comment" }, " ✎") : null,
    tag ? [" ", el("span", { class: `tag ${tag}` }, tag)] : null);
}

// The moments of the sides that are asked for; of both sides the weightiest.
function shownMoments() {
  const color = ({ ply }) => game.moves[ply - 1].color;
  return game.moments.filter((moment) => side === "both" || color(moment) === side).slice(0, MOST_MOMENTS);
}
function drawMoments() {
  $("moments").hidden = game.moments.length === 0;
  for (const button of document.querySelectorAll("[data-side]")) {
    button.setAttribute("aria-pressed", button.dataset.side === side);
    const name = game[button.dataset.side]?.name;
    if (name) button.replaceChildren(el("bdi", {}, name));
  }
  $("moment-list").replaceChildren(...shownMoments().map(({ ply, kind, words }, index) => {
    const { color } = game.moves[ply - 1];
    // The sentence about a blunder begins with its name.
    const title = kind === "blunder" ? null : el("b", {}, `${capital(WORDS[kind])}: `);
    const chip = svg("svg", { class: "chip", viewBox: "0 0 10 10", role: "img", "aria-label": capital(color) },
      svg("circle", { class: color, cx: 5, cy: 5, r: 4 }));
    const attributes = { type: "button", "data-ply": ply, click: () => lookAt(ply) };
    return el("li", {}, el("button", attributes, `${index + 1}. `, chip, " ", title, words));
  }));
}

// Marks the current move in both lists. The list of moves is one stop of the tabulator.
function markMove() {
  const list = $("move-list"), hadFocus = list.contains(document.activeElement);
  for (const button of document.querySelectorAll("[data-ply]")) mark(button, Number(button.dataset.ply) === ply);
  for (const button of list.querySelectorAll("button")) button.tabIndex = -1;
  const current = list.querySelector("[aria-current]");
  const stop = current ?? list.querySelector("button");
  if (stop) stop.tabIndex = 0;
  if (hadFocus) stop.focus({ preventScroll: true });
  // The list scrolls, the page does not.
  const above = current ? current.offsetTop - list.clientHeight / 2 : 0;
  if (!current || Math.abs(above - list.scrollTop) > list.clientHeight / 2 - 40) list.scrollTop = above;
}
