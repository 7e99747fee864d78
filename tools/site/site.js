// The lists of pages and headings are open where there is room beside the text.
"use strict";
document.querySelectorAll("nav details").forEach(list => (list.open = matchMedia("(min-width: 75rem)").matches));
