import assert from "node:assert/strict";
import { test } from "node:test";

import { ServerClock } from "../../../web/script/clock.js";
import { chapterAt, labels, nextChange, positionAt } from "../../../web/script/position.js";
import { Ticker } from "../../../web/script/ticker.js";

// A local clock, a server that is 1000 s ahead, and ways of the given lengths there and back.
function world(ways) {
  const time = { local: 5, wall: 100 };
  const clock = new ServerClock(() => time.local, () => time.wall);
  const pass = (seconds) => {
    time.local += seconds;
    time.wall += seconds;
  };
  let exchanges = 0;
  const ask = async () => {
    const [there, back] = ways[exchanges % ways.length];
    exchanges += 1;
    pass(there);
    const received = time.local + 1000;
    pass(back);
    return { received, answered: received };
  };
  return {
    time,
    clock,
    pass,
    ask,
    get exchanges() {
      return exchanges;
    }
  };
}

test("a burst has eight exchanges, and the one with the shortest way counts", async () => {
  const here = world([[0.03, 0.001], [0.02, 0.03], [0.001, 0.001], [0.03, 0.03]]);
  assert.equal(here.clock.isKnown, false);
  assert.ok(Number.isNaN(here.clock.now()));
  await here.clock.synchronize(here.ask);
  assert.equal(here.exchanges, 8);
  assert.ok(Math.abs(here.clock.now() - here.time.local - 1000) < 1e-9);
  assert.ok(here.clock.bound < 0.0011 + 0.5 * 1e-4);
});

test("the error is at most the bound, whatever the ways are", async () => {
  let seed = 7;
  const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
  for (let round = 0; round < 200; round += 1) {
    const here = world(Array.from({ length: 8 }, () => [random() * 0.03, random() * 0.03]));
    await here.clock.synchronize(here.ask);
    const error = Math.abs(here.clock.now() - here.time.local - 1000);
    assert.ok(error <= here.clock.bound, `${error} > ${here.clock.bound}`);
    assert.ok(error <= 0.015);
  }
});

test("an old estimate with a short way outlives a new one with a long way, until drift makes it worse", async () => {
  const ways = [[0.001, 0.001]];
  const here = world(ways);
  await here.clock.synchronize(here.ask);
  ways[0] = [0.04, 0];
  here.pass(60);
  await here.clock.synchronize(here.ask);
  assert.ok(Math.abs(here.clock.now() - here.time.local - 1000) < 1e-9);
  here.pass(600);
  await here.clock.synchronize(here.ask);
  assert.ok(Math.abs(here.clock.now() - here.time.local - 1000) > 0.01);
});

test("a burst is due after a minute, and a sleep makes all estimates void", async () => {
  const ways = [[0.001, 0.001]];
  const here = world(ways);
  assert.equal(here.clock.isDue, true);
  await here.clock.synchronize(here.ask);
  here.pass(59);
  assert.equal(here.clock.isDue, false);
  here.pass(2);
  assert.equal(here.clock.isDue, true);
  assert.equal(here.clock.hasJumped, false);
  // The machine sleeps: the local clock stands.
  here.time.wall += 300;
  assert.equal(here.clock.hasJumped, true);
  ways[0] = [0.04, 0];
  await here.clock.synchronize(here.ask);
  assert.ok(Math.abs(here.clock.now() - here.time.local - 1000) > 0.01, "the estimate of before the sleep was kept");
  assert.equal(here.clock.hasJumped, false);
});

test("the position follows the anchor", () => {
  const anchor = { elapsed: 10, rate: 1, skew: 0.0001, monotonic: 500 };
  assert.equal(positionAt(anchor, 60, 500), 10);
  assert.ok(Math.abs(positionAt(anchor, 60, 520) - 30.002) < 1e-9);
  assert.equal(positionAt(anchor, 60, 490), 10, "an anchor in the future stands");
  assert.equal(positionAt(anchor, 60, 9999), 60);
  assert.equal(positionAt({...anchor, rate: 0 }, 60, 9999), 10);
  assert.equal(positionAt({...anchor, rate: -8 }, 60, 510), 0);
  assert.equal(positionAt(anchor, 60, NaN), 10, "before the first exchange");
});

test("both labels change at the same instant", () => {
  assert.deepEqual(labels(0, 61.4), { elapsed: 0, remaining: 61 });
  assert.deepEqual(labels(0.9999999, 61.4), { elapsed: 1, remaining: 60 });
  assert.deepEqual(labels(61.4, 61.4), { elapsed: 61, remaining: 0 });
  assert.deepEqual(labels(5, undefined), { elapsed: 5, remaining: null });
});

test("the next change is the next second or pixel, and there is none while nothing moves", () => {
  assert.ok(Math.abs(nextChange(10.25, 200, 1, 0) - 0.751) < 1e-9);
  assert.ok(Math.abs(nextChange(10.25, 200, 2, 0) - 0.376) < 1e-9);
  assert.ok(Math.abs(nextChange(0, 200, 1, 1000) - 0.201) < 1e-9);
  assert.equal(nextChange(10, 200, 0, 1000), Infinity);
  assert.equal(nextChange(200, 200, 1, 1000), Infinity);
  // From change to change, the label is never skipped nor drawn twice in vain.
  for (const [rate, width] of [[1, 0], [1.25, 317], [0.75, 1280], [2, 90]]) {
    let position = 0.123;
    for (let count = 0; count < 500 && position < 239; count += 1) {
      const before = [Math.floor(position + 1e-6), width > 0 ? Math.floor((position / 240) * width + 1e-6) : 0];
      position += nextChange(position, 240, rate, width) * rate;
      const after = [Math.floor(position + 1e-6), width > 0 ? Math.floor((position / 240) * width + 1e-6) : 0];
      assert.notDeepEqual(before, after);
      assert.ok(after[0] - before[0] <= 1 && after[1] - before[1] <= 1);
    }
  }
});

test("chapters are found by their starts", () => {
  const chapters = [{ start: 0 }, { start: 10 }, { start: 20 }];
  assert.equal(chapterAt(chapters, 0), 0);
  assert.equal(chapterAt(chapters, 19.9), 1);
  assert.equal(chapterAt([{ start: 5 }], 1), -1);
});

test("the ticker has no timer while nothing moves or the page is hidden", () => {
  const timers = [];
  const page = { isVisible: true, wait: 0.5, drawn: 0 };
  const ticker = new Ticker(
    {
      isVisible: () => page.isVisible,
      setTimer: (action, seconds) => timers.push({ action, seconds }),
      clearTimer: () => timers.pop(),
    },
    () => page.wait, () => (page.drawn += 1));
  ticker.update();
  assert.deepEqual([page.drawn, timers.length, ticker.isRunning], [1, 1, true]);
  timers.pop().action();
  assert.deepEqual([page.drawn, timers.length], [2, 1]);
  page.wait = Infinity;
  ticker.update();
  assert.deepEqual([page.drawn, timers.length, ticker.isRunning], [3, 0, false]);
  page.wait = 1;
  page.isVisible = false;
  ticker.update();
  assert.deepEqual([page.drawn, timers.length, ticker.isRunning], [3, 0, false]);
});
