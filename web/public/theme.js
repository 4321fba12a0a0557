// Sets the chosen theme before the first paint; `src/lib/theme.ts` changes it later.
(function () {
  try {
    var theme = localStorage.getItem("octavo.theme");
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  } catch (error) {
    // A browser that keeps nothing for this page follows the system.
  }
})();
