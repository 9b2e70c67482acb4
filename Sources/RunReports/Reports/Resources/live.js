(function () {
  var live = document.querySelector(".live");
  var root = live.dataset.root;
  var lesson = live.dataset.lesson;
  var text = live.querySelector("textarea");
  var lines = live.querySelector(".lines");
  var run = live.querySelector("[data-run]");
  var reset = live.querySelector("[data-reset]");
  var state = live.querySelector(".state");
  var messages = live.querySelector(".messages");
  var compare = live.querySelector(".compare");
  var frames = compare.querySelectorAll("iframe");
  var screen = live.querySelector(".screen");
  var prompt = live.querySelector(".prompt");
  var line = prompt.querySelector("input");
  var shellState = live.querySelector("#shell-state");
  var restart = prompt.querySelector("[data-restart]");
  var key = "cdprof.text." + lesson;
  var sessionKey = "cdprof.session";
  var original = null, wrong = [], typed = [], place = 0, isOpen = false, session = null;

  // Storage can be unavailable, or contain anything.
  function stored(storage, key) { try { return window[storage].getItem(key); } catch (error) { return null; } }
  function store(storage, key, value) {
    try {
      if (value === null) window[storage].removeItem(key); else window[storage].setItem(key, value);
    } catch (error) { return; }
  }
  function number() {
    var count = text.value.split("\n").length;
    var parts = document.createDocumentFragment();
    for (var at = 1; at <= count; at += 1) {
      if (wrong.indexOf(at) >= 0) {
        var mark = document.createElement("b");
        mark.textContent = at + "\n";
        parts.appendChild(mark);
      } else { parts.appendChild(document.createTextNode(at + "\n")); }
    }
    lines.replaceChildren(parts);
    lines.scrollTop = text.scrollTop;
  }
  function keep() {
    store("localStorage", key, text.value === original ? null : text.value);
    reset.disabled = text.value === original;
  }
  function post(path, values) {
    values.session = session;
    return fetch(root + path, {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(values), cache: "no-store"
    }).then(function (response) {
      return response.text().then(function (body) {
        if (!response.ok) throw new Error(body || "The server answered with status " + response.status + ".");
        var answer = JSON.parse(body);
        session = answer.session;
        store("sessionStorage", sessionKey, session);
        return answer;
      });
    });
  }
  function explain(error) {
    return error instanceof TypeError ? "The server can’t be reached; is cdprof serve still running?" : error.message;
  }
  function select(row, column) {
    var all = text.value.split("\n");
    var start = all.slice(0, row - 1).reduce(function (sum, one) { return sum + one.length + 1; }, 0);
    // A column counts characters, the text's positions count UTF-16 code units.
    var before = all[row - 1] || "";
    var characters = window.Intl && Intl.Segmenter
      ? Array.from(new Intl.Segmenter().segment(before), function (one) { return one.segment; })
      : Array.from(before);
    start += characters.slice(0, column - 1).join("").length;
    text.focus();
    text.setSelectionRange(start, start);
    text.scrollTop = Math.max(0, (row - 4) * 20);
  }
  function show(answer) {
    // Other errors are in included files.
    var pattern = /^(?:.*\/)?([^/\n]+):(\d+):(\d+): error: /gm;
    var buttons = messages.querySelector(".lines-with-errors");
    var found;
    buttons.replaceChildren();
    wrong = [];
    while ((found = pattern.exec(answer.messages))) {
      (function (file, row, column) {
        if (file.replace(/\.[^.]*$/, "") !== lesson.split("/").pop() || wrong.indexOf(row) >= 0) return;
        wrong.push(row);
        var button = document.createElement("button");
        button.type = "button";
        button.textContent = "Go to line " + row;
        button.addEventListener("click", function () { select(row, column); });
        buttons.appendChild(button);
      })(found[1], Number(found[2]), Number(found[3]));
    }
    number();
    messages.querySelector("pre").textContent = answer.messages;
    messages.hidden = !answer.messages;
    // The page of an earlier run isn't that of the text.
    compare.hidden = !answer.page;
    if (!answer.page) return;
    if (!frames[0].getAttribute("src")) frames[0].src = live.dataset.plain;
    frames[1].src = root + answer.page;
    compare.scrollIntoView({ block: "nearest" });
  }
  function start() {
    if (run.disabled) return;
    run.disabled = true;
    state.textContent = "Running…";
    post("run", { lesson: lesson, text: text.value }).then(function (answer) {
      state.textContent = answer.state;
      show(answer);
    }).catch(function (error) { state.textContent = explain(error); }).then(function () { run.disabled = false; });
  }
  function print(added) {
    // Only the end of a long output is kept.
    screen.textContent = (screen.textContent + added).slice(-200000);
    screen.scrollTop = screen.scrollHeight;
  }
  function send(typedLine) {
    line.disabled = true;
    shellState.textContent = "Running…";
    var values = { lesson: lesson, line: typedLine };
    if (!isOpen) values.text = text.value;
    return post("shell", values).then(function (answer) {
      if (values.text !== undefined) print(answer.banner);
      if (typedLine !== "" || answer.output) print((typedLine === "" ? "" : "cdprof> " + typedLine + "\n") + answer.output);
      isOpen = !answer.ended;
      shellState.textContent = answer.ended ? "The shell has ended; the next line starts a new one." : "";
    }).catch(function (error) { shellState.textContent = explain(error); }).then(function () {
      line.disabled = false;
      // The reader may have moved on meanwhile.
      var focused = document.activeElement;
      if (focused === document.body || prompt.contains(focused)) line.focus();
    });
  }

  session = stored("sessionStorage", sessionKey);
  fetch(live.dataset.text, { cache: "no-store" }).then(function (response) {
    if (!response.ok) throw new Error("The scenario can’t be read.");
    return response.text();
  }).then(function (file) {
    original = file.replace(/\r\n?/g, "\n");
    var kept = stored("localStorage", key);
    text.value = kept === null ? original : kept;
    run.disabled = false;
    keep();
    number();
  }).catch(function (error) { state.textContent = explain(error); });
  text.addEventListener("input", function () { wrong = []; keep(); number(); });
  text.addEventListener("scroll", function () { lines.scrollTop = text.scrollTop; });
  text.addEventListener("keydown", function (event) {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); start(); }
  });
  run.addEventListener("click", start);
  reset.addEventListener("click", function () {
    text.value = original;
    wrong = [];
    keep();
    number();
    state.textContent = "";
    text.focus();
  });
  prompt.addEventListener("submit", function (event) {
    event.preventDefault();
    if (line.disabled || original === null) return;
    var value = line.value;
    if (value.trim()) typed.push(value);
    place = typed.length;
    line.value = "";
    send(value);
  });
  line.addEventListener("keydown", function (event) {
    var step = event.key === "ArrowUp" ? -1 : event.key === "ArrowDown" ? 1 : 0;
    if (!step) return;
    event.preventDefault();
    place = Math.min(typed.length, Math.max(0, place + step));
    line.value = place < typed.length ? typed[place] : "";
  });
  restart.addEventListener("click", function () {
    if (line.disabled) return;
    isOpen = false;
    screen.textContent = "";
    send("");
  });
})();
