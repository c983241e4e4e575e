// Games as the page works with them: columns unpacked, and the positions behind the moves.

const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

// White's chance to win in per cent, by lichess' formula.
function winOf(value) {
  if (!value) return null;
  const cp = known(value.mate) ? 1000 * Math.sign(value.mate) : Math.max(-1000, Math.min(1000, value.cp));
  return 100 / (1 + Math.exp(-0.00368208 * cp));
}
function evalOf(packed) {
  if (!known(packed)) return null;
  return typeof packed === "number" ? { cp: packed } : { mate: Number(packed.slice(1)) };
}

// A game with a list of moves, each with all that is known of it.
function unpacked(one) {
  if (Array.isArray(one.moves)) return one;
  const { sans, ucis, evals, clocks, used, usual, more = {} } = one.moves;
  const names = sans ? sans.split(" ") : [], coded = ucis ? ucis.split(" ") : [];
  const start = { ...one.start, fen: one.start.fen ?? START }, fens = fensBehind(start.fen, coded);
  const ms = (column, index) => known(column?.[index]) ? Math.round(1000 * column[index]) : null;
  start.win = winOf(start.eval);
  const moves = names.map((san, index) => {
    const before = (fens[index - 1] ?? start.fen).split(" "), color = before[1] === "w" ? "white" : "black";
    const { judgement, lost, best, verdict, trouble, words } = more[index + 1] ?? {}, value = evalOf(evals?.[index]);
    const mate = san.endsWith("#") && value?.mate === 0;
    return {
      ply: index + 1, number: Number(before[5]), color, san, uci: coded[index], fen: fens[index], eval: value,
      win: mate ? winOf({ mate: color === "white" ? 1 : -1 }) : winOf(value), judgement,
      glyph: { blunder: "??", mistake: "?", inaccuracy: "?!" }[judgement], expected_loss: lost,
      best: best ? { uci: best[0], san: best[1].split(" ")[0], line: best[1].split(" "), eval: evalOf(best[2]) } : null,
      clock_ms: ms(clocks, index), used_ms: ms(used, index),
      time: known(used?.[index]) ? { usual_ms: ms(usual, index), verdict, in_trouble: trouble, words } : null,
    };
  });
  return { ...one, start, moves };
}

// The positions behind moves in UCI that are known to be legal; castling may be the king that takes its rook.
function fensBehind(fen, ucis) {
  const board = new Map(piecesOf(fen).map(({ sign, file, rank }) => [FILES[file] + (rank + 1), sign]));
  let [, turn, castling, , half, number] = fen.split(" ");
  half = Number(half) || 0;
  number = Number(number) || 1;
  const sign = (kind) => turn === "w" ? kind.toUpperCase() : kind;
  const find = (wanted, rank) => [...FILES].map((file) => file + rank).filter((square) => board.get(square) === wanted);
  // The rook's square that each letter of the castling rights stands for.
  const rights = [...castling].filter((letter) => letter !== "-").map((letter) => {
    const white = isWhite(letter), rank = white ? 1 : 8, king = find(white ? "K" : "k", rank)[0] ?? "e" + rank;
    const rooks = find(white ? "R" : "r", rank), kind = letter.toLowerCase();
    if (kind === "k") return { letter, king, rook: rooks.filter((rook) => rook > king).at(-1) };
    return { letter, king, rook: kind === "q" ? rooks.find((rook) => rook < king) : kind + rank };
  });
  return ucis.map((uci) => {
    const from = uci.slice(0, 2), to = uci.slice(2, 4), piece = board.get(from), rank = from[1];
    const isPawn = piece === sign("p"), wide = Math.abs(FILES.indexOf(from[0]) - FILES.indexOf(to[0])) > 1;
    const castles = piece === sign("k") && (board.get(to) === sign("r") || wide);
    const taken = board.has(to) && !castles, east = to > from;
    board.delete(from);
    if (castles) {
      const rook = board.get(to) === sign("r") ? to
        : rights.find(({ king, rook }) => king === from && rook > king === east)?.rook ?? (east ? "h" : "a") + rank;
      board.delete(rook);
      board.set((east ? "g" : "c") + rank, piece).set((east ? "f" : "d") + rank, sign("r"));
    } else {
      if (isPawn && from[0] !== to[0] && !taken) board.delete(to[0] + rank);
      board.set(to, uci[4] ? sign(uci[4]) : piece);
    }
    for (let at = rights.length - 1; at >= 0; at--) {
      if ([from, to].some((square) => square === rights[at].king || square === rights[at].rook)) rights.splice(at, 1);
    }
    half = isPawn || taken ? 0 : half + 1;
    if (turn === "b") number++;
    turn = turn === "w" ? "b" : "w";
    // A square to take in passing is named where a pawn stands beside.
    const beside = [-1, 1].map((by) => board.get((FILES[FILES.indexOf(to[0]) + by] ?? "-") + to[1]));
    const passed = isPawn && Math.abs(to[1] - rank) === 2 && beside.includes(sign("p"));
    const rows = [8, 7, 6, 5, 4, 3, 2, 1].map((row) => [...FILES].map((file) => board.get(file + row) ?? " ").join("")
      .replace(/ +/g, (empty) => empty.length));
    return [rows.join("/"), turn, rights.map(({ letter }) => letter).join("") || "-",
      passed ? to[0] + (Number(rank) + Number(to[1])) / 2 : "-", half, number].join(" ");
  });
}

// The game as PGN: its tags, comments and variations, and what the analysis found.
function pgnOf({ tags, moves, start, notes = {} }) {
  const quoted = (value) => value.replace(/\\/g, "\\\\").replace(/"/g, '\\"');
  const head = Object.entries(tags).map(([tag, value]) => `[${tag} "${quoted(value)}"]`);
  const behind = (ply, commands) => {
    const { comments = [], variations = [] } = notes[ply] ?? {};
    const said = [commands.join(" "), ...comments].filter(Boolean).map((text) => `{${text.replace(/}/g, "")}}`);
    return [...said, ...variations];
  };
  const text = behind(0, []);
  for (const move of moves) {
    const { eval: value, clock_ms } = move, commands = [];
    if (value?.mate) commands.push(`[%eval #${value.mate}]`);
    else if (known(value?.cp)) commands.push(`[%eval ${(value.cp / 100).toFixed(2)}]`);
    if (known(clock_ms)) commands.push(`[%clk ${Math.floor(clock_ms / 3600000)}:${clockText(clock_ms % 3600000).padStart(5, "0")}]`);
    const points = move.color === "white" ? "." : "...";
    if (move.color === "white" || move.ply === 1 || /[})]$/.test(text.at(-1))) text.push(`${move.number}${points}`);
    text.push(move.san, ...known(move.glyph) ? [{ "?!": "$6", "?": "$2", "??": "$4" }[move.glyph]] : []);
    text.push(...behind(move.ply, commands));
  }
  if (start.fen !== START && !tags.FEN) head.push('[SetUp "1"]', `[FEN "${start.fen}"]`);
  return `${head.join("\n")}\n\n${text.join(" ")} ${tags.Result ?? "*"}\n`;
}
