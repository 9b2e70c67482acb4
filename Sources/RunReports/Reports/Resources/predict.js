(function () {
  var section = document.querySelector(".predict");
  var main = document.querySelector("main");
  if (!section || !main.classList.contains("asks")) return;
  var key = "cdprof.lessons";
  var lesson = section.dataset.lesson;
  var forms = list("form", section);
  var rows = list(".board tbody tr", main);
  var buttons = section.querySelector(":scope > .buttons");
  var next = buttons.querySelector("[data-next]");
  var all = buttons.querySelector("[data-all]");
  var again = buttons.querySelector("[data-again]");
  var score = section.querySelector(".score");
  var answered = 0, right = 0, shown = 0;

  function list(selector, root) { return Array.prototype.slice.call(root.querySelectorAll(selector)); }
  // Storage can be unavailable, or contain anything.
  function scores() {
    try {
      var read = JSON.parse(localStorage.getItem(key));
      return read && typeof read === "object" && !Array.isArray(read) ? read : {};
    } catch (error) { return {}; }
  }
  function save(value) {
    try {
      var read = scores();
      if (value) read[lesson] = value; else delete read[lesson];
      localStorage.setItem(key, JSON.stringify(read));
    } catch (error) { return; }
  }
  function isScore(value) { return Array.isArray(value) && value.length === 2 && value[0] <= value[1]; }
  function total(here) {
    var read = scores(), sum = [0, 0];
    Object.keys(read).forEach(function (name) {
      if (isScore(read[name])) { sum[0] += read[name][0]; sum[1] += read[name][1]; }
    });
    score.textContent = "You answered " + here[0] + " of " + here[1] + " correctly"
      + (sum[1] > here[1] ? "; " + sum[0] + " of " + sum[1] + " in all lessons." : ".");
  }
  function finish(here) {
    main.classList.remove("asks", "reveals");
    forms.forEach(function (form) {
      form.querySelector(".controls").hidden = true;
      form.querySelector("[data-answer]").hidden = false;
      list("li", form).forEach(function (one) { one.hidden = false; });
    });
    buttons.hidden = false;
    next.hidden = all.hidden = true;
    again.hidden = false;
    if (here) total(here);
    dispatchEvent(new Event("resize"));
  }
  function ask() {
    answered = right = shown = 0;
    main.classList.add("asks");
    main.classList.remove("reveals");
    rows.forEach(function (row) { row.classList.remove("shown"); });
    forms.forEach(function (form) {
      form.reset();
      form.querySelector(".controls").hidden = false;
      form.querySelector("[data-answer]").hidden = true;
      form.querySelector("[data-verdict]").textContent = "";
      list("input, button", form).forEach(function (one) { one.disabled = false; });
      list("li", form).forEach(function (one) { one.hidden = true; });
      var hint = form.querySelector("[data-hint]");
      if (hint) hint.textContent = "Hint";
    });
    buttons.hidden = all.hidden = false;
    next.hidden = again.hidden = true;
    score.textContent = "";
  }
  function answer(form) {
    var number = form.querySelector("[data-value]");
    var chosen = number || form.querySelector("input:checked");
    var verdict = form.querySelector("[data-verdict]");
    // Digits can be grouped by three, but 1.5 isn't 15.
    var typed = number ? number.value.trim() : "";
    var isNumber = /^([0-9]+|[0-9]{1,3}([\s,.'’][0-9]{3})+)$/.test(typed);
    var digits = typed.replace(/[^0-9]/g, "");
    if (!chosen || (number && !isNumber)) {
      verdict.textContent = number ? "Enter a number." : "Choose an answer.";
      (chosen || form.querySelector("input")).focus();
      return;
    }
    var isRight = number ? Number(digits) === Number(number.dataset.value) : "right" in chosen.dataset;
    verdict.textContent = isRight ? "Right." : "Not quite.";
    form.querySelector("[data-answer]").hidden = false;
    list("input, button", form).forEach(function (one) { one.disabled = true; });
    answered += 1;
    if (isRight) right += 1;
    if (answered < forms.length) {
      var open = forms.filter(function (one) { return !one.querySelector("[type=submit]").disabled; });
      open[0].querySelector("input").focus({ preventScroll: true });
      return;
    }
    save([right, forms.length]);
    total([right, forms.length]);
    next.textContent = "Show the first result";
    next.hidden = false;
    next.focus();
  }
  forms.forEach(function (form) {
    form.addEventListener("submit", function (event) { event.preventDefault(); answer(form); });
    var hint = form.querySelector("[data-hint]");
    if (!hint) return;
    hint.addEventListener("click", function () {
      var waiting = list("li", form).filter(function (one) { return one.hidden; });
      waiting[0].hidden = false;
      hint.textContent = "Next hint";
      if (waiting.length === 1) { hint.disabled = true; form.querySelector("input").focus(); }
    });
  });
  next.addEventListener("click", function () {
    main.classList.add("reveals");
    var row = rows[shown];
    if (row) {
      row.classList.add("shown");
      score.textContent = row.querySelector("[data-result]").dataset.result;
    }
    shown += 1;
    next.textContent = shown < rows.length ? "Show the next result" : "Show the explanation";
    if (shown > rows.length) {
      finish([right, forms.length]);
      section.querySelector("h2").focus();
    }
  });
  all.addEventListener("click", function () {
    finish(answered === forms.length ? [right, forms.length] : null);
    section.querySelector("h2").focus();
  });
  again.addEventListener("click", function () {
    save(null);
    ask();
    section.querySelector("h2").focus();
  });
  var before = scores()[lesson];
  if (isScore(before)) finish(before); else ask();
})();
