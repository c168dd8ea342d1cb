"use strict";
/* Embeds the plots and paints them with the page's colours, again whenever the reader's colour scheme changes. */
(function () {
  const data = document.getElementById("plots");
  if (!data || typeof Bokeh === "undefined") return;
  Bokeh.set_log_level("error");
  const items = JSON.parse(data.textContent);

  function role(name) {
    return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
  }

  function paint() {
    for (const doc of Bokeh.documents) {
      for (const model of doc.all_models) {
        for (const tag of model.tags || []) {
          if (tag === null || typeof tag !== "object") continue;
          const entries = tag instanceof Map ? tag.entries() : Object.entries(tag);
          const wanted = {};
          for (const [property, name] of entries) wanted[property] = role(name);
          model.setv(wanted);
        }
      }
    }
  }

  function unfold() {
    for (const one of document.querySelectorAll("details")) one.open = true;
  }

  Promise.all(items.map((item) => Bokeh.embed.embed_item(item))).then(() => {
    paint();
    document.documentElement.dataset.plots = "drawn";
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint);
  addEventListener("beforeprint", () => { document.documentElement.classList.add("paper"); paint(); unfold(); });
  addEventListener("afterprint", () => { document.documentElement.classList.remove("paper"); paint(); });
})();
