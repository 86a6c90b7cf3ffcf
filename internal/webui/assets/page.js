// Keys, folding, more of a list in place, and live updates. Every page works without.
"use strict";
(() => {
  const root = document.documentElement;
  const status = document.getElementById("status");
  root.classList.add("script");

  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const shown = (element) => element.checkVisibility();
  let timer = 0;
  const sayOn = (text) => { // until something else is said
    clearTimeout(timer);
    status.textContent = text;
  };
  const say = (text) => {
    sayOn(text);
    timer = setTimeout(() => { status.textContent = ""; }, 6000);
  };

  // fetchPage brings a page of this server as a document that is not shown.
  const fetchPage = async (address, signal) => {
    const answer = await fetch(address, { headers: { Accept: "text/html" }, signal });
    if (!answer.ok) throw new Error(`the server answers ${answer.status}`);
    return new DOMParser().parseFromString(await answer.text(), "text/html");
  };

  // Items: what j and k go to. The part with data-main takes the focus.
  const mainOf = (item) => item.hasAttribute("data-main") || item.matches("tr") ? item : item.querySelector("[data-main]");
  const items = () => all("[data-item]").filter(shown);
  const current = () => {
    const at = document.activeElement;
    return at?.closest("[data-item]") ?? at?.closest("details.file")?.querySelector("[data-item]");
  };
  // focusItem shows all of an item, of a file with its lines, or the beginning of what is higher than the window.
  const focusItem = (item) => {
    if (!item) return;
    mainOf(item).focus({ preventScroll: true });
    const whole = item.closest("details.file") ?? item;
    const fits = whole.getBoundingClientRect().height < innerHeight - 120;
    whole.scrollIntoView({ block: fits ? "nearest" : "start", behavior: "instant" });
  };
  // nearest is the first item in sight, where j begins after a jump.
  const nearest = (list) => list.findIndex((item) => item.getBoundingClientRect().bottom > 60);
  const move = async (by) => {
    let list = items();
    const here = current();
    if (!here) return focusItem(list[Math.max(0, nearest(list))]);
    let to = list.indexOf(here) + by;
    if (to >= list.length && await more()) {
      list = items();
      to = list.indexOf(here) + by;
    }
    focusItem(list[Math.min(Math.max(to, 0), list.length - 1)]);
  };

  // more appends the next page of a list.
  let loading = null;
  let appended = false;
  const more = () => {
    const link = document.querySelector("a[data-more]");
    if (!link) return Promise.resolve(false);
    loading ??= (async () => {
      try {
        const next = (await fetchPage(link.href)).querySelector("[data-live]");
        const row = link.closest("p");
        const before = new Set(items());
        // The first day of the next page may be the last one of this.
        const last = all("section.day").at(-1);
        const first = next.querySelector("section.day");
        if (last && first && first.querySelector("h2")?.textContent === last.querySelector("h2")?.textContent) {
          last.append(...[...first.children].filter((child) => child.tagName !== "H2"));
          first.remove();
        }
        for (const child of [...next.children]) {
          if (!child.matches("p.more") || child.querySelector("a[data-more]")) row.before(child);
        }
        const focused = document.activeElement === link;
        row.remove();
        appended = true;
        const added = items().filter((item) => !before.has(item));
        if (focused) focusItem(added[0]);
        const n = added.filter((item) => item.matches("article, .turn > *")).length;
        say(`${n} older ${n === 1 ? "entry" : "entries"}`);
        return true;
      } catch (error) {
        say(`Older entries could not be loaded: ${error.message}`);
        return false;
      } finally {
        loading = null;
      }
    })();
    return loading;
  };

  // load brings the lines of a file when it is unfolded.
  const load = async (file) => {
    const address = file.dataset.load;
    if (!address) return;
    delete file.dataset.load;
    const body = file.querySelector(".body");
    body.setAttribute("aria-busy", "true");
    try {
      body.replaceWith((await fetchPage(address)).querySelector(".body"));
      followBox(file);
    } catch (error) {
      file.dataset.load = address;
      body.removeAttribute("aria-busy");
      say(`The file could not be loaded: ${error.message}`);
    }
  };
  // open puts more unchanged lines of a file in place. What is chosen stays chosen.
  const open = async (link) => {
    const body = link.closest(".body");
    const address = new URL(link.href);
    address.searchParams.set("part", "lines");
    body.setAttribute("aria-busy", "true");
    try {
      const fresh = (await fetchPage(address)).querySelector(".body");
      const chosen = new Set(all("input:checked", body).map((box) => box.value));
      for (const box of all("input", fresh)) box.checked = chosen.has(box.value);
      body.replaceWith(fresh);
      (fresh.querySelector("a[data-open]") ?? fresh.closest("details").querySelector("summary")).focus({ preventScroll: true });
      say("More lines are shown");
    } catch (error) {
      body.removeAttribute("aria-busy");
      say(`The lines could not be loaded: ${error.message}`);
    }
  };
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[data-open]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    open(link);
  });
  document.addEventListener("toggle", (event) => {
    if (event.target.matches?.("details.file") && event.target.open) load(event.target);
  }, true);
  const foldAll = () => {
    const files = all("details.file");
    const open = !files.some((file) => file.open && !file.dataset.load);
    for (const file of files) if (!open || !file.dataset.load) file.open = open;
  };

  // press follows the link or pushes the button of a key: of the item in focus, of the
  // file around it, or of the page.
  const press = (key) => {
    const at = `[data-key="${key}"]`;
    const here = current();
    const target = here?.querySelector(at) ?? here?.closest("details, article")?.querySelector(at) ??
      all(at).find((element) => !element.closest("[data-item], details.file") && shown(element));
    if (!target || target.id === "main") return;
    if (key === "x") (target.disabled ? document.querySelector(".choosing button") : target).focus();
    else target.click();
  };
  // The colours change in place, so that what was searched for, ticked and unfolded stays.
  const colours = document.querySelector("form[action='/ui/theme']");
  colours.addEventListener("submit", async (event) => {
    event.preventDefault();
    const { value } = event.submitter;
    const body = new URLSearchParams(new FormData(colours, event.submitter));
    try {
      const answer = await fetch(colours.action, { method: "POST", body, redirect: "manual" });
      if (answer.type !== "opaqueredirect") throw new Error(`the server answers ${answer.status}`);
    } catch (error) {
      return say(`The colours could not be changed: ${error.message}`);
    }
    if (value === "auto") delete root.dataset.theme;
    else root.dataset.theme = value;
    for (const button of all("button[name=theme]")) button.ariaPressed = button.value === value;
  });
  const nextTheme = () => {
    const buttons = all("button[name=theme]");
    const at = buttons.findIndex((button) => button.getAttribute("aria-pressed") === "true");
    buttons[(at + 1) % buttons.length].click();
  };

  const dialog = document.getElementById("keys");
  const commands = {
    j: () => move(1), k: () => move(-1), t: nextTheme, e: foldAll,
    "/": () => {
      const field = document.querySelector("[data-filter]");
      field?.focus();
      field?.select();
    },
    "?": () => dialog.showModal(),
    v: () => document.querySelector("a[data-view]")?.click(),
    Escape: () => (document.activeElement === document.body || document.activeElement.id === "confirm" ? press("Escape") : document.activeElement.blur()),
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || dialog.open) return;
    if (event.target.matches("input:not([type=checkbox]), textarea, select") && event.key !== "Escape") return;
    const known = commands[event.key];
    if (!known && !/^[a-z]$/.test(event.key)) return;
    if (known || document.querySelector(`[data-key="${event.key}"]`)) {
      event.preventDefault();
      if (known) known();
      else press(event.key);
    }
  });
  document.getElementById("show-keys").addEventListener("click", () => dialog.showModal());
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[data-more]");
    if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
      event.preventDefault();
      more();
    }
  });

  // Choosing: the box of a file stands for the boxes of its changes, where these are shown. In a
  // preview all boxes are ticked at first, and a ticked file means its ticked changes.
  const form = document.getElementById("choose");
  const preview = form?.querySelector("#confirm");
  const boxes = (file) => all("input[name=hunk]", file);
  const boxOf = (file) => document.querySelector(`input[name=file][value="${file.id}"]`);
  const tell = () => {
    const text = document.getElementById("chosen");
    if (!text) return;
    const changed = all("input[form=choose]").some((box) => box.checked !== box.defaultChecked);
    const whole = (own) => own?.checked && !own.indeterminate;
    const changes = all("input[name=hunk]:checked").filter((box) => !whole(boxOf(box.closest("details.file")))).length;
    const files = all("input[name=file]").filter(whole).length;
    const steps = all("input[name=step]:checked").length;
    const parts = [[changes, "change"], [files, "file"], [steps, "step"]].filter(([count]) => count).map(([count, noun]) => `${count} ${noun}${count === 1 ? "" : "s"}`);
    text.textContent = parts.length ? `${parts.join(", ")} ${preview ? "ticked" : "chosen"}` : "Nothing is chosen.";
    text.parentElement.classList.toggle("some", preview ? changed : parts.length > 0);
    if (!preview) return;
    preview.disabled = changed;
    if (changed) text.textContent += ". Look at the preview of that before you confirm it.";
  };
  const count = (file) => {
    const own = boxOf(file);
    const chosen = boxes(file).filter((box) => box.checked).length;
    own.checked = preview ? chosen > 0 : chosen === boxes(file).length;
    own.indeterminate = chosen > 0 && chosen < boxes(file).length;
  };
  // followBox ticks the changes of a file whose lines came later as the file is ticked.
  const followBox = (file) => {
    const own = boxOf(file);
    if (own) for (const box of boxes(file)) box.checked = own.checked;
  };
  // A whole file needs no names of its changes, for which an address has no room. A preview counts them.
  form?.addEventListener("formdata", ({ formData }) => {
    if (preview) return;
    const whole = all("input[name=file]:checked").filter((own) => !own.indeterminate).map((own) => document.getElementById(own.value));
    const named = new Set(whole.flatMap(boxes).map((box) => box.value));
    const rest = formData.getAll("hunk").filter((id) => !named.has(id));
    formData.delete("hunk");
    for (const id of rest) formData.append("hunk", id);
  });
  // The box of a turn stands for the boxes of its steps.
  const countSteps = (turn) => {
    const steps = all("input[name=step]", turn);
    const own = turn.querySelector("input[data-turn]");
    if (!own) return;
    const chosen = steps.filter((box) => box.checked).length;
    own.checked = chosen > 0;
    own.indeterminate = chosen > 0 && chosen < steps.length;
  };
  all(".going fieldset").forEach(countSteps);
  document.addEventListener("change", (event) => {
    const box = event.target;
    const turn = box.closest?.(".going fieldset");
    if (turn && box.matches("[data-turn]")) for (const one of all("input[name=step]", turn)) one.checked = box.checked;
    if (turn) {
      countSteps(turn);
      return tell();
    }
    if (!box.matches?.("input[form=choose]")) return;
    const file = box.name === "hunk" ? box.closest("details.file") : document.getElementById(box.value);
    if (box.name === "hunk") count(file);
    else if (file) for (const one of boxes(file)) one.checked = box.checked;
    tell();
  });
  if (all("input[form=choose]").length) tell();

  // A double click, or a key that is held down, sends a form once: the answer to a second request would take the place
  // of the result. A person who has stopped the page can send the form again soon.
  const sent = new WeakSet();
  document.addEventListener("submit", (event) => {
    const sending = event.target;
    if (sending.method !== "post" || event.defaultPrevented) return;
    if (sent.has(sending)) return event.preventDefault();
    sent.add(sending);
    setTimeout(() => sent.delete(sending), 3000);
  });

  // Search as one types: the list is replaced by what the server finds. A search that another one follows is given up:
  // in a long history each takes seconds, and the last one would wait for all before it.
  let searching = null;
  const search = async (form) => {
    const address = `${location.pathname}?${new URLSearchParams(new FormData(form))}`;
    searching?.abort();
    const mine = searching = new AbortController();
    const found = await fetchPage(address, mine.signal).catch((error) => {
      if (!mine.signal.aborted) throw error;
    });
    if (mine !== searching) return; // a later search is under way
    live().replaceWith(found.querySelector("[data-live]"));
    const tabs = document.querySelector("main > .tabs");
    const fresh = found.querySelector("main > .tabs");
    if (tabs && fresh) tabs.replaceWith(fresh);
    history.replaceState(null, "", address);
    appended = false;
    const n = all("[data-live] article").length;
    say(n ? `${n} ${n === 1 ? "entry" : "entries"} found` : "Nothing found");
  };
  let typing = 0;
  document.addEventListener("input", (event) => {
    const form = event.target.matches("[data-filter]") && live() ? event.target.form : null;
    if (!form) return;
    clearTimeout(typing);
    typing = setTimeout(() => search(form).catch((error) => say(`The search failed: ${error.message}`)), 200);
  });

  // Live: what is new is put in place, unless older pages were appended, which a
  // replacement would take away from under the reader.
  const live = () => document.querySelector("[data-live]");
  // place notes which control has the focus, and what stands where in the window. Its functions bring both back
  // after the list was replaced. At the top of the page the list moves down, so that what is new is seen.
  const place = () => {
    const control = document.activeElement.closest("[data-live] *");
    const holder = control?.closest("[id]").id;
    const address = control?.getAttribute("href");
    const focus = () => {
      if (!control) return;
      const within = document.getElementById(holder) ?? live();
      const same = all("a", within).find((link) => link.getAttribute("href") === address);
      const other = control.dataset.more === undefined ? within.querySelector("[data-main]") : within.querySelector("a[data-more]");
      (same ?? other)?.focus({ preventScroll: true });
    };
    const top = (element) => element.getBoundingClientRect().top;
    const seen = scrollY > 0 ? all("[data-live] [id]").find((element) => top(element) > 60) : null;
    const was = seen && top(seen);
    const read = () => {
      const again = seen && document.getElementById(seen.id);
      if (again) scrollBy({ top: top(again) - was, behavior: "instant" });
    };
    return { focus, read };
  };
  let refreshing = 0;
  const refresh = async () => {
    if (!live() || new URLSearchParams(location.search).has("after")) return;
    if (appended) return say("There is something new: load the page again to see it.");
    const mine = ++refreshing;
    const from = location.href;
    const fresh = (await fetchPage(from)).querySelector("[data-live]");
    if (mine !== refreshing) return; // a later look is under way
    if (appended || from !== location.href) return refresh(); // another list is shown by now
    if (!fresh || fresh.innerHTML === live().innerHTML) return;
    const before = new Set(all("[data-live] [id]").map((element) => element.id));
    const { focus, read } = place();
    live().replaceWith(fresh);
    focus();
    read();
    const news = all("[data-item][id]", fresh).filter((element) => !before.has(element.id)).length;
    if (news) say(news === 1 ? "1 new entry" : `${news} new entries`);
  };
  const address = document.body.dataset.events;
  if (address && live()) {
    let waiting = 0;
    const later = () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => refresh().catch(() => {}), 150);
    };
    // A tab out of sight does not listen: a browser opens six connections to a server at most, and each stream holds
    // one. What a stream has missed before it began again is looked for.
    let events = null;
    let missed = document.hidden;
    let failures = 0; // since the stream was open
    const listen = () => {
      events = new EventSource(address);
      events.onopen = () => {
        if (missed) later();
        missed = true;
        if (failures > 1) say("The server answers again.");
        failures = 0;
      };
      events.onerror = () => {
        if (events.readyState === EventSource.CLOSED) return sayOn("This page no longer follows what happens: load it again.");
        // The browser tries again. A stream that was only cut begins again at the first try.
        if (++failures === 2) sayOn("The server does not answer. What is shown may be old.");
      };
      events.onmessage = later;
      for (const name of ["track", "session", "step", "revert", "operation", "gc"]) events.addEventListener(name, later);
    };
    document.addEventListener("visibilitychange", () => {
      events?.close();
      if (!document.hidden) listen();
    });
    if (!document.hidden) listen();
  }

  // A link into the page moves the focus, too, so that j goes on from there.
  const follow = () => {
    const target = location.hash ? document.getElementById(location.hash.slice(1)) : null;
    if (!target || target.id === "main") return;
    if (target.matches("details")) target.open = true;
    focusItem(target.matches("[data-item]") ? target : target.querySelector("[data-item]"));
  };
  addEventListener("hashchange", follow);
  follow();
})();
