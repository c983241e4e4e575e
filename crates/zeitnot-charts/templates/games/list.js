// The list of the games, its filters, and a player's games by groups.

const LISTED = 100, MOST_ROWS = 60;
let listed = LISTED;

// What is searched and sorted of a game, gathered once.
function indexed(one, index) {
  const { tags, white, black } = one, [, year, month = "00", day = "00"] = /(\d{4})(?:\D(\d\d))?(?:\D(\d\d))?/.exec(`${tags.Date} ${tags.UTCDate}`) ?? [];
  const opening = one.opening ?? tags.Opening ?? /openings\/([^/?]+)/.exec(tags.ECOUrl ?? "")?.[1].replace(/-/g, " ") ?? tags.ECO;
  const text = [white.name, black.name, opening, ...["Event", "Site", "Date", "Round", "ECO", "TimeControl", "Result"].map((tag) => tags[tag])];
  return {
    one, index, date: year ? `${year}-${month}-${day}` : "", opening: opening && plain(opening),
    family: opening && (/^.*?(?:Defen[cs]e|Game|Opening|Gambit|Attack|System)\b/.exec(opening)?.[0] ?? plain(opening).split(/[:,]/)[0].trim()), speed: one.speed ?? "unknown",
    white: { "1-0": 1, "0-1": 0, "1/2-1/2": .5 }[tags.Result], text: text.filter(known).join(" ").toLowerCase(),
  };
}
const named = (name, wanted) => name.trim().toLowerCase() === wanted;

// The games that the filters leave, each with the side of the player who is asked for; White's without one.
function filtered() {
  const value = (id) => $(id).value.trim(), player = value("player").toLowerCase(), color = value("color");
  const words = value("search").toLowerCase().split(/\s+/).filter(Boolean);
  const sides = ["white", "black"].filter((side) => !color || !player || side === color);
  const rows = data.index.flatMap((row) => {
    const side = player ? sides.find((side) => named(row.one[side].name, player)) : "white";
    const score = known(row.white) ? side === "black" ? 1 - row.white : row.white : null;
    const fits = side && words.every((word) => row.text.includes(word))
      && (!value("speed") || row.speed === value("speed")) && (!value("opening") || row.family === value("opening"))
      && (!value("result") || score === Number(value("result")))
      && (!value("from") || row.date >= value("from")) && (!value("to") || row.date && row.date.slice(0, 10) <= value("to"));
    return fits ? [{ ...row, side, score, own: row.one[side] }] : [];
  });
  const orders = {
    new: (a, b) => b.date.localeCompare(a.date), old: (a, b) => a.date.localeCompare(b.date),
    worst: (a, b) => (a.own.accuracy ?? 999) - (b.own.accuracy ?? 999),
    best: (a, b) => (b.own.accuracy ?? -1) - (a.own.accuracy ?? -1),
    blunders: (a, b) => b.own.blunders - a.own.blunders,
  };
  return orders[value("sort")] ? rows.sort(orders[value("sort")]) : rows;
}

function drawGames() {
  $("games").hidden = data.games.length < 2;
  const rows = filtered(), shown = rows.slice(0, listed);
  $("count").textContent = `${rows.length} of ${data.games.length} games`;
  $("more").hidden = rows.length <= listed;
  $("game-list").replaceChildren(...shown.map(({ one, index, date }) => {
    const accuracy = ` accuracy ${fixed(one.white.accuracy, 0)} and ${fixed(one.black.accuracy, 0)}`;
    return el("li", {}, el("button", { type: "button", "data-game": index, click: () => choose(index) },
      `${index + 1}. `, namesOf(one), el("span", { class: "soft" }, date ? ` ${date}` : null, accuracy)));
  }));
  markGame();
  drawMine();
}
function markGame() {
  for (const button of document.querySelectorAll("[data-game]")) mark(button, data.games[button.dataset.game] === chosen);
}

// One player's games, summed up by colour, opening, speed or month.
function drawMine() {
  const by = $("by").value, most = data.players[0];
  const name = $("player").value.trim() || (most?.games > 1 ? most.name : "");
  const rows = $("player").value.trim() ? filtered() : filtered().flatMap((row) => {
    const side = ["white", "black"].find((side) => row.one[side].name === name);
    const score = side === "black" && known(row.white) ? 1 - row.white : row.white;
    return side ? [{ ...row, side, score, own: row.one[side] }] : [];
  });
  $("mine").hidden = rows.length < 2;
  $("mine-name").replaceChildren(el("bdi", {}, name));
  const groups = new Map();
  const key = { color: (row) => row.side, opening: (row) => row.family ?? "unknown", speed: (row) => row.speed, month: (row) => row.date.slice(0, 7) || "unknown" }[by];
  for (const row of rows) {
    if (!groups.has(key(row))) groups.set(key(row), []);
    groups.get(key(row)).push(row);
  }
  const order = by === "month" ? ([a], [b]) => b.localeCompare(a) : ([, a], [, b]) => b.length - a.length;
  const mean = (of, pick) => { const all = of.map(pick).filter(known); return all.length ? all.reduce((sum, one) => sum + one, 0) / all.length : null; };
  const cells = (of) => {
    const count = (score) => of.filter((row) => row.score === score).length, score = mean(of, (row) => row.score);
    return [of.length, `${count(1)} / ${count(.5)} / ${count(0)}`, known(score) ? percent(100 * score) : "–",
      fixed(mean(of, (row) => row.own.accuracy), 1), fixed(mean(of, (row) => row.own.blunders), 1),
      fixed(mean(of, (row) => row.own.clock?.score), 0)];
  };
  const heads = [by === "color" ? "Colour" : capital(by), "Games", "Won / drawn / lost", "Score", "Accuracy", "Blunders a game", "Clock score"];
  const line = (title, of) => el("tr", {}, el("th", { scope: "row" }, title), cells(of).map((cell) => el("td", {}, cell)));
  const choice = (group) => el("button", { type: "button", click: () => narrow(by, group, name) }, el("bdi", {}, group));
  const all = [...groups].sort(order), left = all.length - MOST_ROWS;
  $("mine-table").replaceChildren(el("table", {},
    el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col" }, head)))),
    el("tbody", {}, line("all", rows), all.slice(0, MOST_ROWS).map(([group, of]) => line(choice(group), of)))),
  left > 0 ? el("p", { class: "soft" }, `${left} more with fewer games`) : "");
}
// Shows the games of a group alone.
function narrow(by, group, name) {
  $("player").value = name;
  if (by === "month") [$("from").value, $("to").value] = /\d/.test(group) ? [`${group}-01`, `${group}-31`] : ["", ""];
  else if (group !== "unknown") $(by).value = group;
  refilter();
}
function refilter() {
  listed = LISTED;
  drawGames();
  drawPlayers();
}

// Offers what occurs, the most frequent first.
function offer(id, values) {
  const counts = new Map();
  for (const value of values.filter(known)) counts.set(value, (counts.get(value) ?? 0) + 1);
  const sorted = [...counts].sort(([, a], [, b]) => b - a).map(([value]) => el("option", { value }, value));
  $(id).append(...sorted);
}
function listenToFilters() {
  data.index = data.games.map(indexed);
  offer("speed", data.index.map(({ speed }) => speed));
  offer("opening", data.index.map(({ family }) => family));
  offer("names", data.games.flatMap(({ white, black }) => [white.name, black.name]));
  for (const field of $("filters").querySelectorAll("input, select")) field.addEventListener("input", refilter);
  $("by").addEventListener("input", drawMine);
  $("more").addEventListener("click", () => { listed += LISTED; drawGames(); });
  $("clear").addEventListener("click", () => {
    for (const field of $("filters").querySelectorAll("input, select")) field.value = "";
    refilter();
  });
}
