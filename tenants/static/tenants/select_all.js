// What is shown once is selected as a whole when it is clicked. In a file, since the pages allow no inline script.
document.addEventListener("focusin", (event) => {
  if (event.target.matches("input[data-select-all]")) event.target.select();
});
