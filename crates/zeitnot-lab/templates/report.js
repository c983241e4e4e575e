"use strict";
// Steps through the games of the page: by buttons, by the slider, by keys, and to the ply that the address names (#BOARD=PLY).
(() => {
  const figurines = { k: "\u265a\ufe0e", q: "\u265b\ufe0e", r: "\u265c\ufe0e", b: "\u265d\ufe0e", n: "\u265e\ufe0e", p: "\u265f\ufe0e" };
  const keys = { ArrowLeft: "back", ArrowRight: "on", Home: "first", End: "last" };

  const setUp = (game) => {
    const plies = JSON.parse(game.querySelector("script").textContent);
    const board = game.querySelector(".squares");
    const slider = game.querySelector("input");
    const marker = game.querySelector("svg .marker");
    const last = plies.length - 1;
    let at = last;

    const show = (ply, isSpoken) => {
      at = Math.min(Math.max(ply, 0), last);
      const { squares, moved, title, times, label } = plies[at];
      Array.from(board.children).forEach((square, index) => {
        const piece = squares[index];
        const shade = (Math.floor(index / 8) + (index % 8)) % 2 === 0 ? "light" : "dark";
        const side = piece === "." ? "" : piece === piece.toUpperCase() ? " white" : " black";
        square.className = shade + side + (moved.includes(index) ? " moved" : "");
        square.textContent = figurines[piece.toLowerCase()] || "";
      });
      board.setAttribute("aria-label", label);
      game.querySelector(".move").textContent = title;
      game.querySelector(".times").textContent = times;
      game.dataset.ply = at;
      slider.value = at;
      slider.setAttribute("aria-valuetext", title);
      if (marker) {
        const x = Number(marker.dataset.first) + at * Number(marker.dataset.step);
        marker.setAttribute("x1", x);
        marker.setAttribute("x2", x);
      }
      if (isSpoken) game.querySelector(".spoken").textContent = title + ", " + times;
    };

    const step = (to) => show({ first: 0, back: at - 1, on: at + 1, last }[to], true);
    game.querySelectorAll("button").forEach((button) => button.addEventListener("click", () => step(button.dataset.to)));
    slider.addEventListener("input", () => show(Number(slider.value), false));
    game.addEventListener("keydown", (event) => {
      const to = keys[event.key];
      // The slider has these keys of its own, and a table scrolls by them.
      if (!to || event.target === slider || event.target.closest(".scroll") || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      step(to);
    });
    game.tabIndex = 0;
    game.querySelectorAll(".steps, .keys").forEach((element) => { element.hidden = false; });
    return show;
  };

  const shows = new Map();
  document.querySelectorAll(".game").forEach((game) => shows.set(game.id, setUp(game)));
  const follow = () => {
    const [id, ply] = location.hash.slice(1).split("=");
    if (shows.has(id) && /^\d+$/.test(ply || "")) {
      shows.get(id)(Number(ply), false);
      document.getElementById(id).scrollIntoView();
    }
  };
  addEventListener("hashchange", follow);
  follow();
})();
