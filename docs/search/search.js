// The search page. Sphinx's search wants every word of a question in one page, and fetches its excerpts, which no
// browser does from a file. This ranks sections by BM25 (Robertson and Zaragoza 2009) over the words that match.
"use strict";

const K = 1.2, B = 0.6, TITLE = 5, PAGE = 4, SHOWN = 20, EXCERPT = 240;
const STOP = new Set(("a about all an and any are as at be by can did do does for from get give has have how i if in is it"
  + " its me my of on or our out so that the their them then there this to use we what when where which who why will"
  + " with without you your").split(" "));
// What people say, and what the pages call it.
const ALSO = {
  airgap: ["offline", "network"], airgapped: ["offline", "network"], bad: ["slow"], cable: ["link", "port"],
  culprit: ["locate"], dashboard: ["pages", "history"], driver: ["nic"], expected: ["expectation", "normal"],
  faulty: ["slow"], firmware: ["bios"], floor: ["limit"], fraction: ["percent"], latency: ["round", "trip"],
  fallback: ["instead"], half: ["slow", "expectation"], interface: ["nic"], log: ["judge"],
  meaning: ["explain"], mbps: ["gb", "rate"], mpirun: ["launcher", "launch"], multirail: ["rail"], nhc: ["gate"],
  openmpi: ["mpi"], osu_bw: ["osu", "judge"], osu_latency: ["osu", "judge"], schema: ["document"], offline: ["network", "wheelhouse"],
  pause: ["pfc"], regress: ["trend"], regression: ["trend"], restore: ["revert"], rollback: ["revert", "undo"],
  sbatch: ["slurm"], shm: ["shared", "memory"], simulat: ["lab", "model"], tun: ["tune"], undo: ["revert"],
  unit: ["rate"], virtual: ["lab"], vendor: ["dossier"], wire: ["prove", "path"],
};

const stem = (word) => word.length < 4 ? word : word.replace(/(?:ies)$/, "y").replace(/(?:ing|ed|es|s)$/, "");
const wordsOf = (text) => (text.toLowerCase().match(/[a-z0-9][a-z0-9_.]*[a-z0-9]|[a-z0-9]/g) || []).map(stem);

function counted(section) {
  const counts = new Map();
  const add = (text, weight) => wordsOf(text).forEach((word) => counts.set(word, (counts.get(word) || 0) + weight));
  add(section.text, 1);
  add(section.title, TITLE);
  add(section.page, PAGE);
  add(section.words, PAGE);
  let length = 0;
  counts.forEach((count) => { length += count; });
  return { ...section, counts, length };
}

function ranked(sections, query) {
  const asked = [...new Set(wordsOf(query).filter((word) => !STOP.has(word)))];
  const all = sections.map(counted);
  const mean = all.reduce((sum, section) => sum + section.length, 0) / all.length;
  const rarity = (word) => {
    const having = all.filter((section) => section.counts.has(word)).length;
    return having ? Math.log(1 + (all.length - having + 0.5) / (having + 0.5)) : 0;
  };
  const terms = asked.map((word) => [[word, 1, rarity(word)],
    ...(ALSO[word] || []).map((other) => [stem(other), 0.5, rarity(stem(other))])]);
  const worth = (section, [word, weight, idf]) => {
    const count = section.counts.get(word) || 0;
    return weight * idf * count * (K + 1) / (count + K * (1 - B + B * section.length / mean));
  };
  const scored = all.map((section) => {
    const each = terms.map((group) => Math.max(...group.map((term) => worth(section, term))));
    const met = each.filter((value) => value > 0).length / Math.max(1, terms.length);
    return { section, score: each.reduce((sum, value) => sum + value, 0) * met * section.weight };
  }).filter((found) => found.score > 0);
  scored.sort((a, b) => b.score - a.score);
  const pages = new Map();  // the best section of a page stands for it
  scored.forEach((found) => { if (!pages.has(found.section.page)) pages.set(found.section.page, found); });
  return { terms: terms.flat().map(([word]) => word), found: [...pages.values()].slice(0, SHOWN) };
}

function excerpt(text, terms) {
  const wanted = new Set(terms);
  const places = [...text.matchAll(/[A-Za-z0-9][A-Za-z0-9_.]*/g)].filter((match) => wanted.has(wordsOf(match[0])[0]));
  const near = (at) => new Set(places.filter((one) => one.index >= at && one.index < at + EXCERPT)
    .map((one) => wordsOf(one[0])[0])).size;
  let from = 0;
  places.forEach((place) => { if (near(place.index) > near(from)) from = place.index; });
  from = Math.max(0, text.lastIndexOf(" ", from - 30) + 1);
  const shown = document.createElement("p");
  let at = from;
  const end = Math.min(text.length, from + EXCERPT);
  places.filter((one) => one.index >= from && one.index + one[0].length <= end).forEach((one) => {
    const mark = document.createElement("mark");
    mark.textContent = one[0];
    shown.append(text.slice(at, one.index), mark);
    at = one.index + one[0].length;
  });
  shown.prepend(from ? "… " : "");
  shown.append(text.slice(at, end) + (end < text.length ? " …" : ""));
  return shown;
}

function show() {
  const query = new URLSearchParams(location.search).get("q") || "";
  const place = document.getElementById("search-results");
  const { terms, found } = ranked(SECTIONS, query);
  const heading = document.createElement("h1");
  heading.textContent = query ? `Search: ${query}` : "Search";
  place.append(heading);
  document.querySelectorAll("input[name=q]").forEach((input) => { input.value = query; });
  if (query && !found.length) place.append("No page has any of these words.");
  found.forEach(({ section }) => {
    const title = document.createElement("h3");
    const link = document.createElement("a");
    link.href = section.url;
    link.textContent = section.title === section.page ? section.page : `${section.page}: ${section.title}`;
    title.append(link);
    place.append(title, excerpt(section.text, terms));
  });
  document.documentElement.dataset.ready = "yes";
}

show();
