(function () {
  var page = document.querySelector("footer[data-version]");
  var script = null, misses = 0;
  // Called by the script next to the page with the version that was written last.
  window.cdprofReload = function (version) {
    misses = 0;
    if (version !== page.dataset.version) location.reload();
  };
  function ask() {
    if (script) script.remove();
    script = document.createElement("script");
    script.nonce = page.dataset.nonce;
    script.src = page.dataset.script + "?" + Date.now();
    script.onload = function () { setTimeout(ask, 500); };
    // The script is removed when watching ends.
    script.onerror = function () {
      misses += 1;
      if (misses < 20) setTimeout(ask, 500);
    };
    document.head.appendChild(script);
  }
  ask();
})();
