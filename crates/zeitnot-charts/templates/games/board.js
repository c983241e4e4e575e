// The board.

// Outlines and details of the pieces, in squares of 45.
const PIECES = {
  p: [
    "M22.5 9.5a5.3 5.3 0 0 1 3.4 9.4c4.4 2.5 6.2 7.6 6.7 12.6H12.4c.5-5 2.3-10.1 6.7-12.6" +
      "a5.3 5.3 0 0 1 3.4-9.4zM10.5 34h24v4.5h-24z",
    "",
  ],
  r: [
    "M11 8.5h5v3.5h4V8.5h5v3.5h4V8.5h5V17l-4 3v9l3 3H12l3-3v-9l-4-3zM9.5 34.5h26v4h-26z",
    "M15 20h15M15 29h15",
  ],
  b: [
    "M22.5 6a2.6 2.6 0 0 1 1.6 4.7c5 3.6 7.4 8.3 7.4 12.3 0 3-1.8 5-3.6 6l1.6 3h-14l1.6-3" +
      "c-1.8-1-3.6-3-3.6-6 0-4 2.4-8.7 7.4-12.3A2.6 2.6 0 0 1 22.5 6zM10 34.5h25v4H10z",
    "M22.5 16.5v8M18.5 20.5h8",
  ],
  n: [
    "M13.5 32.5c0-8.5 8-9.5 8-15.5-3 2-5.5 2.5-7 5.5-1.2 2.3-4.5 2-5.5-.2-.8-2 .2-4 1.2-6" +
      "l4.3-6.8-.8-4.5 4.3 2.5c9.5-.8 17 6.5 17 25zM10.5 34.5h26v4h-26z",
    "M16.3 13.5l1.5 0M11.5 20.5l.8-.8M25.5 11c4 3.5 6 9.5 6 17",
  ],
  q: [
    "M12.5 31.5L8.3 15.5l6.4 6.5L16.8 10.5l5.7 10.5 5.7-10.5 2.1 11.5 6.4-6.5-4.2 16zM10 34.5h25v4H10z" +
      "M10.5 13.5a2.3 2.3 0 1 1-4.6 0 2.3 2.3 0 0 1 4.6 0zM19 8.5a2.3 2.3 0 1 1-4.6 0 2.3 2.3 0 0 1 4.6 0z" +
      "M30.6 8.5a2.3 2.3 0 1 1-4.6 0 2.3 2.3 0 0 1 4.6 0zM39.1 13.5a2.3 2.3 0 1 1-4.6 0 2.3 2.3 0 0 1 4.6 0z",
    "M13.5 27h18",
  ],
  k: [
    "M21.2 4h2.6v3h3v2.6h-3v4.6h-2.6v-4.6h-3V7h3zM22.5 20c-1-4 2-6 5-6 5 0 8.5 3 8.5 7.5 0 4.5-3.5 6.5-5 10H14" +
      "c-1.5-3.5-5-5.5-5-10C9 17 12.5 14 17.5 14c3 0 6 2 5 6zM11 34.5h23v4H11z",
    "M22.5 20v8M14 27.5c5-2 12-2 17 0",
  ],
};
const NAMES = { k: "king", q: "queen", r: "rook", b: "bishop", n: "knight", p: "pawn" };
const FILES = "abcdefgh";

// The pieces of a position: sign, file and rank from 0.
function piecesOf(fen) {
  const pieces = [];
  for (const [index, row] of fen.split(" ")[0].split("/").entries()) {
    let file = 0;
    for (const sign of row) {
      if (NAMES[sign.toLowerCase()]) pieces.push({ sign, file: file++, rank: 7 - index });
      else file += Number(sign);
    }
  }
  return pieces;
}

function drawBoard() {
  const move = game.moves[ply - 1], best = bestOther(move);
  const { fen } = game.moves[ply - (before ? 2 : 1)] ?? game.start, pieces = piecesOf(fen);
  const x = (file) => 14 + 45 * (flipped ? 7 - file : file), y = (rank) => 45 * (flipped ? rank : 7 - rank);
  const played = move ? [move.uci.slice(0, 2), move.uci.slice(2, 4)] : [], parts = [];
  for (let file = 0; file < 8; file++) {
    for (let rank = 0; rank < 8; rank++) {
      const kind = played.includes(FILES[file] + (rank + 1)) ? "marked" : (file + rank) % 2 ? "light" : "dark";
      parts.push(rect(kind, x(file), y(rank), 45, 45));
    }
  }
  for (let at = 0; at < 8; at++) {
    parts.push(svg("text", { x: 16, y: y(at) + 11 }, at + 1), svg("text", { x: x(at) + 37, y: 357 }, FILES[at]));
  }
  for (const { sign, file, rank } of pieces) {
    const [outline, detail] = PIECES[sign.toLowerCase()];
    const kind = `piece ${isWhite(sign) ? "white" : "black"}`;
    parts.push(svg("g", { class: kind, transform: `translate(${x(file)} ${y(rank)})` },
      svg("path", { d: outline }), path("detail", detail)));
  }
  const middle = (square) => [x(FILES.indexOf(square[0])) + 22.5, y(square[1] - 1) + 22.5];
  const arrowOf = (uci, kind) => arrow(middle(uci.slice(0, 2)), middle(uci.slice(2, 4)), kind);
  if (before) parts.push(...arrowOf(move.uci, "worse"));
  if (best) parts.push(...arrowOf(best.uci, "better"));
  if (known(winAt(ply))) {
    const share = 3.6 * winAt(ply);
    parts.push(rect("bar", 0, 0, 9, 360), rect("share", 0, flipped ? 0 : 360 - share, 9, share));
    parts.push(rect("frame", .5, .5, 8, 359));
  }
  $("board").replaceChildren(...parts);
  describeBoard(move, fen, pieces);
}
const isWhite = (sign) => sign !== sign.toLowerCase();

function arrow([fromX, fromY], [toX, toY], kind) {
  const length = Math.hypot(toX - fromX, toY - fromY), dx = (toX - fromX) / length, dy = (toY - fromY) / length;
  const neckX = toX - 15 * dx, neckY = toY - 15 * dy;
  return [
    path(`arrow ${kind}`, `M${fromX + 8 * dx} ${fromY + 8 * dy}L${neckX} ${neckY}`),
    path(`head ${kind}`, `M${toX} ${toY}L${neckX - 10 * dy} ${neckY + 10 * dx}L${neckX + 10 * dy} ${neckY - 10 * dx}z`),
  ];
}

// The position in words, for those who hear the page.
function describeBoard(move, fen, pieces) {
  const listed = (white) => Object.entries(NAMES).flatMap(([kind, name]) => pieces
    .filter(({ sign }) => isWhite(sign) === white && sign.toLowerCase() === kind)
    .map(({ file, rank }) => `${name} ${FILES[file]}${rank + 1}`)).join(", ");
  const below = flipped ? "Black" : "White", toMove = fen.split(" ")[1] === "b" ? "Black" : "White";
  $("board-title").textContent = plain(`Board ${move ? `${before ? "before" : "after"} ${numbered(move)}` : "at the start"}, ${below} below`);
  $("board-pieces").textContent = `White: ${listed(true)}. Black: ${listed(false)}. ${toMove} to move.`;
}
