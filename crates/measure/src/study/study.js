
"use strict";
// Texts to copy.
document.querySelectorAll(".copy button").forEach((button) => button.addEventListener("click", () => {
  const range = document.createRange();
  range.selectNodeContents(button.nextElementSibling);
  getSelection().removeAllRanges();
  getSelection().addRange(range);
  button.textContent = document.execCommand("copy") ? "Copied" : "Selected: copy it with the keyboard";
}));
