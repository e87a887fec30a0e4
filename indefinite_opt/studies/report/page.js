"use strict";
// Sorting and filtering of the results, and formulas as wide as their cards.
(() => {
  const table = document.getElementById("results-table");
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  // A row of failures belongs to the row above it.
  const groups = [];
  for (const row of body.rows) {
    if (row.classList.contains("error")) groups.at(-1).push(row);
    else groups.push([row]);
  }
  const key = (group, column) => {
    const cell = group[0].cells[column];
    const value = cell.dataset.value;
    return value === undefined ? cell.textContent.trim().toLowerCase() : parseFloat(value);
  };
  const missing = (value) => typeof value === "number" && Number.isNaN(value);
  const select = document.getElementById("sort");
  const sort = (column, descending) => {
    const sign = descending ? -1 : 1;
    groups.sort((one, other) => {
      const [a, b] = [key(one, column), key(other, column)];
      if (missing(a) || missing(b)) return missing(a) - missing(b); // missing values come last
      return sign * (a < b ? -1 : a > b ? 1 : 0);
    });
    for (const group of groups) body.append(...group);
    heads.forEach((head, i) => {
      if (i === column) head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    select.value = column + (descending ? " descending" : " ascending");
  };
  heads.forEach((head, column) => {
    const name = head.textContent;
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = name;
    button.addEventListener("click", () => {
      const now = head.getAttribute("aria-sort");
      sort(column, now ? now === "ascending" : head.dataset.first === "descending");
    });
    head.replaceChildren(button);
    for (const order of ["ascending", "descending"]) {
      select.add(new Option(name + ", " + order, column + " " + order));
    }
  });
  select.addEventListener("change", () => {
    const [column, order] = select.value.split(" ");
    sort(Number(column), order === "descending");
  });
  const filter = document.getElementById("filter");
  const count = document.getElementById("count");
  filter.addEventListener("input", () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const group of groups) {
      const text = group.map((row) => row.textContent.toLowerCase()).join(" ");
      const hidden = !words.every((word) => text.includes(word));
      shown += hidden ? 0 : 1;
      for (const row of group) row.hidden = hidden;
    }
    count.textContent = shown + " of " + groups.length + " rows";
  });
  document.getElementById("tools").hidden = false;
  sort(heads.findIndex((head) => head.dataset.first === "descending"), true);

  // The width of each formula in units of its font size; the style sheet does the rest, on paper
  // as well.
  for (const formula of document.querySelectorAll("article .scroll math")) {
    formula.style.cssText = "position: absolute; width: max-content";
    const width = formula.getBoundingClientRect().width;
    formula.style.cssText = "";
    const size = parseFloat(getComputedStyle(formula).fontSize);
    formula.style.setProperty("--width", (width / size + 0.5).toFixed(2));
  }
})();
