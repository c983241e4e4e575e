// The curves of a game on one axis of moves: chance to win, clocks, times.

const TIMES = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200].map((s) => s * 1000);
// The first step that gives at most `most` parts.
const step = (length, most, steps) => steps.find((one) => length / one <= most) ?? Math.ceil(length / most);

// Segments of a curve: a point that is not known breaks it.
function segments(points) {
  const all = [[]];
  for (const point of points) if (point) all.at(-1).push(point); else all.push([]);
  return all.filter((segment) => segment.length);
}

function drawChart() {
  const { moves } = game, width = Math.max(240, $("chart").clientWidth), left = 44, right = width - 16;
  const timed = moves.some(({ used_ms }) => known(used_ms)), clocked = moves.some(({ clock_ms }) => known(clock_ms));
  const x = (index) => left + (right - left) * index / Math.max(1, moves.length);
  const frame = {
    x, parts: [], titles: [],
    grid(y, label) {
      this.parts.push(path("grid", `M${left} ${y}H${right}`));
      this.parts.push(svg("text", { class: "end", x: left - 5, y: y + 4 }, label));
    },
    title(y, text) { this.titles.push(svg("text", { class: "name", x: left, y: y - 8 }, text)); },
  };
  const numbers = momentNumbers(x), top = 26 + 12 * Math.max(1, ...numbers.map(({ row }) => row + 1));
  let bottom = drawChances(frame, top);
  if (clocked) bottom = drawClocks(frame, bottom + 34);
  if (timed) bottom = drawTimes(frame, bottom + 42);
  for (const { at, number, row } of numbers) {
    frame.parts.push(path("moment", `M${at} ${top}V${bottom}`));
    frame.parts.push(svg("text", { class: "number", x: at, y: 10 + 12 * row }, number));
  }
  const every = step(moves.length / 2, (right - left) / 36, [1, 2, 5, 10, 20, 25, 50, 100]), y = bottom + 20;
  for (const { number, ply } of moves.filter(({ color, number }) => color === "white" && number % every === 0)) {
    frame.parts.push(svg("text", { class: "mid", x: x(ply), y }, number));
  }
  const cursor = path("cursor", null);
  $("chart").replaceChildren(svg("svg", { viewBox: `0 0 ${width} ${y + 8}`, "aria-hidden": "true" },
    frame.parts, svg("text", { x: 4, y }, "move"), cursor, frame.titles));
  chart = {
    markMove: () => cursor.setAttribute("d", `M${x(ply)} ${top - 22}V${bottom}`),
    plyAt: (at) => Math.round((at - left) / (right - left) * moves.length),
  };
  chart.markMove();
  drawLegend(clocked, timed);
}

// Numbers of moments, and rows for them so that those close together stand below one another.
function momentNumbers(x) {
  const ends = [];
  const numbers = shownMoments().map(({ ply }, index) => ({ at: x(ply), number: index + 1 })).sort((a, b) => a.at - b.at);
  for (const one of numbers) {
    const free = ends.findIndex((end) => one.at - end >= 12);
    one.row = free < 0 ? ends.length : free;
    ends[one.row] = one.at;
  }
  return numbers;
}

// Each of these draws its part below `top` and returns where it ends.
function drawChances(frame, top) {
  const { x, parts } = frame, level = (win) => top + 1.4 * (100 - win);
  frame.title(top, "White's chance to win, %");
  for (const win of [100, 50, 0]) frame.grid(level(win), win);
  const wins = [game.start, ...game.moves].map(({ win }) => win);
  for (const segment of segments(wins.map((win, index) => known(win) ? [x(index), level(win)] : null))) {
    const line = segment.join("L");
    parts.push(path("band", `M${segment[0][0]} ${level(50)}L${line}V${level(50)}z`), path("line", `M${line}`));
  }
  for (const { ply, win, judgement } of game.moves) {
    if (judgement && known(win)) parts.push(dot(judgement, x(ply), level(win)));
  }
  return level(0);
}

function drawClocks(frame, top) {
  const { x, parts } = frame, { moves } = game, most = Math.max(1000, ...moves.map(({ clock_ms }) => clock_ms ?? 0));
  const unit = step(most, 4, TIMES), full = unit * Math.ceil(most / unit), level = (ms) => top + 90 * (1 - ms / full);
  frame.title(top, "Clock");
  for (let ms = 0; ms <= full; ms += unit) frame.grid(level(ms), clockText(ms));
  for (const { ply } of moves.filter(({ time }) => time?.in_trouble)) {
    parts.push(rect("trouble", x(Math.max(0, ply - 2)), top, x(ply) - x(Math.max(0, ply - 2)), 90));
  }
  for (const side of ["white", "black"]) {
    const points = moves.filter(({ color }) => color === side)
      .map(({ ply, clock_ms }) => known(clock_ms) ? [x(ply), level(clock_ms)] : null);
    for (const segment of segments(points)) parts.push(path(`line ${side[0]}`, `M${segment.join("L")}`));
  }
  return level(0);
}

// Bars grow as the roots of times: one long thought must not hide all the others.
function drawTimes(frame, top) {
  const { x, parts } = frame, timed = game.moves.filter(({ used_ms }) => known(used_ms));
  const longest = (side) => Math.max(1000, ...timed.filter(({ color }) => color === side)
    .flatMap(({ used_ms, time }) => [used_ms, time?.usual_ms ?? 0]));
  const up = longest("white"), down = longest("black"), scale = 120 / (Math.sqrt(up) + Math.sqrt(down));
  const height = (ms) => Math.sqrt(ms) * scale, middle = top + height(up);
  frame.title(top - 8, "Time used: White up, Black down");
  frame.grid(middle, "0");
  for (const [most, sign] of [[up, -1], [down, 1]]) {
    let before = 0;
    for (const ms of TIMES.filter((ms) => ms <= most)) {
      if (height(ms) - before < 15) continue;
      before = height(ms);
      frame.grid(middle + sign * before, span(ms).replace(".0", ""));
    }
  }
  const slot = Math.min(24, Math.max(1, 2 * (x(1) - x(0)) - 1));
  for (const { ply, color, used_ms, time } of timed) {
    const white = color === "white", from = x(ply) - slot / 2, end = middle + (white ? -1 : 1) * height(used_ms);
    const bar = (kind, ms, at, share) =>
      parts.push(rect(kind, at, white ? middle - height(ms) : middle, Math.max(.5, slot * share), height(ms)));
    bar(color[0], used_ms, from, .6);
    if (known(time?.usual_ms)) bar("usual", time.usual_ms, from + slot * .68, .25);
    if (TAGS[time?.verdict]) parts.push(dot(TAGS[time.verdict], from + slot * .3, end + (white ? -6 : 6)));
  }
  return top + 120;
}

// The sign of a judgement on the curve, or of a verdict on the clock.
function dot(kind, x, y) {
  const shape = { long: `M${x} ${y - 6}l5 6l-5 6l-5 -6z`, instant: `M${x} ${y - 5}l5.5 10h-11z` }[kind];
  return shape ? path(`dot ${kind}`, shape)
    : svg("circle", { class: `dot ${kind}`, cx: x, cy: y, r: { blunder: 5, mistake: 4 }[kind] ?? 3 });
}

function drawLegend(clocked, timed) {
  const entry = (text, shape) => el("li", {}, svg("svg", { viewBox: "0 0 22 12", "aria-hidden": "true" }, shape), text);
  const sides = ["White", "Black"]
    .map((name) => entry(`${name}'s clock and time`, path(`line ${name[0].toLowerCase()}`, "M0 6H22")));
  $("legend").replaceChildren(...clocked || timed ? sides : [],
    ...["blunder", "mistake", "inaccuracy"].map((kind) => entry(kind, dot(kind, 11, 6))),
    ...timed ? [entry("usual time (times on a root scale)", rect("usual", 8, 1, 5, 10)),
      entry("time trouble", rect("trouble", 4, 0, 14, 12)), entry("long thought for nothing", dot("long", 11, 6)), entry(WORDS.needed_one, dot("instant", 11, 6))] : [],
    entry("moments to look at first", svg("text", { x: 8, y: 11 }, "1")));
}
