import assert from "node:assert/strict";
import { test } from "node:test";

import { ServerClock } from "../../../web/script/clock.js";
import { Player } from "../../../web/script/player.js";
import { Queue } from "../../../web/script/queue.js";
import { CallError } from "../../../web/script/rpc.js";

const base = (more = {}) => ({
  session: "main",
  instance: "a",
  seq: 1,
  cause: "snapshot",
  state: "playing",
  item: { id: 7, title: "Aria", duration: 100 },
  anchor: { elapsed: 10, rate: 1, skew: 0, monotonic: 1000 },
  commandsVersion: 1,
  queue: { index: 0, count: 3, version: 1, revision: 1 },
  ...more,
});

// A player whose calls wait for the test; time stands at the anchor's instant.
async function start() {
  const calls = [];
  const connection = {
    call(method, params) {
      if (method === "clock.now") return Promise.resolve({ received: 1000, answered: 1000 });
      return new Promise((resolve, reject) => calls.push({ method, params, resolve, reject }));
    },
  };
  const player = new Player(connection, new ServerClock(() => 0, () => 0), ["de-AT"]);
  const opened = player.opened();
  const take = (method) => calls.splice(calls.findIndex((call) => call.method === method), 1)[0];
  take("hello").resolve({ role: "control", capabilities: {} });
  const subscription = take("nowPlaying.subscribe");
  assert.deepEqual(subscription.params, { languages: ["de-AT"] });
  subscription.resolve(base());
  await opened;
  take("commands.list").resolve({
    commands: [{ command: "pause", enabled: true }, { command: "like", enabled: false, reason: "empty queue" }]
  });
  await Promise.resolve();
  return { player, calls, take };
}
const settle = () => new Promise((resolve) => setImmediate(resolve));

test("of the browser's languages only as many are sent as the daemon takes", () => {
  const sent = [];
  const connection = { call: (method, params) => new Promise(() => sent.push([method, params])) };
  const languages = Array.from({ length: 20 }, (_, index) => `x-${index}`);
  new Player(connection, new ServerClock(() => 0, () => 0), languages).opened();
  const [, params] = sent.find(([method]) => method === "nowPlaying.subscribe");
  assert.deepEqual(params.languages, languages.slice(0, 16));
});

test("a change that is heard later is shown at once", async () => {
  const { player } = await start();
  const pending = { state: "paused", itemId: 7, position: 12, monotonic: 1002, wall: 5 };
  player.notified("nowPlaying.changed", base({ seq: 2, cause: "pending", pending }));
  assert.deepEqual([player.state.state, player.position(), player.rate], ["paused", 12, 0]);
  player.notified("nowPlaying.changed", base({ seq: 3, cause: "pending", pending: { ...pending, state: "playing" } }));
  assert.deepEqual([player.state.state, player.position(), player.rate], ["playing", 12, 1]);
  // The position stays that of the audible item.
  player.notified("nowPlaying.changed", base({ seq: 4, cause: "pending", pending: { ...pending, itemId: 8 } }));
  assert.deepEqual([player.state.state, player.state.item.id, player.position()], ["paused", 7, 10]);
  player.notified("nowPlaying.changed", base({ seq: 5, cause: "volume", pending: null }));
  assert.deepEqual([player.state.state, player.position()], ["playing", 10]);
});

test("the position stands at the target of a seek until its event", async () => {
  const { player, take } = await start();
  assert.equal(player.position(), 10);
  const seek = player.seek(50);
  assert.deepEqual([player.position(), player.rate], [50, 0]);
  // Another event does not end it.
  player.notified("nowPlaying.changed", base({ seq: 2, cause: "volume" }));
  assert.equal(player.position(), 50);
  player.notified(
    "nowPlaying.changed", base({ seq: 3, cause: "seek", anchor: { elapsed: 49.9, rate: 1, skew: 0, monotonic: 1000 } }));
  assert.deepEqual([player.position(), player.rate], [49.9, 1]);
  take("changePlaybackPosition").resolve({ seq: 3 });
  await seek;
  assert.equal(player.position(), 49.9);
});

test("a refused seek returns to the true position", async () => {
  const { player, take } = await start();
  const seek = player.seek(50);
  take("changePlaybackPosition").reject(new Error("not seekable"));
  await assert.rejects(seek);
  assert.equal(player.position(), 10);
});

test("an event that is older than the state changes nothing; another instance does", async () => {
  const { player } = await start();
  player.notified("nowPlaying.changed", base({ seq: 9, cause: "pause", state: "paused" }));
  player.notified("nowPlaying.changed", base({ seq: 8, cause: "play" }));
  assert.equal(player.state.state, "paused");
  player.notified("nowPlaying.changed", base({ seq: 1, instance: "b", cause: "play" }));
  assert.equal(player.state.state, "playing");
});

test("commands carry the daemon's reason, and none is enabled without a connection or the right", async () => {
  const { player } = await start();
  await settle();
  assert.equal(player.command("pause").enabled, true);
  assert.equal(player.command("like").reason, "empty queue");
  assert.equal(player.command("unknown").enabled, false);
  player.role = "read";
  assert.deepEqual([player.command("pause").enabled, player.command("pause").reason], [false, "read only"]);
  // The role “remote” has all but one of them.
  player.role = "remote";
  player.commands.set("changeConsumeMode", { command: "changeConsumeMode", enabled: true });
  assert.deepEqual([player.command("pause").enabled, player.canOperate, player.canControl], [true, true, false]);
  assert.deepEqual([player.command("changeConsumeMode").enabled, player.command("changeConsumeMode").reason], [false, "denied"]);
  player.role = "control";
  assert.equal(player.command("changeConsumeMode").enabled, true);
  player.lost();
  assert.deepEqual([player.command("pause").enabled, player.command("pause").reason], [false, "offline"]);
  assert.equal(player.rate, 0);
});

test("the list of commands is fetched again when it has changed, not at each event", async () => {
  const { player, calls } = await start();
  await settle();
  player.notified("nowPlaying.changed", base({ seq: 2, cause: "volume" }));
  assert.equal(calls.length, 0);
  player.notified("nowPlaying.changed", base({ seq: 3, cause: "commands", commandsVersion: 2 }));
  assert.deepEqual(calls.map(({ method }) => method), ["commands.list"]);
});

test("of the queue only pages in sight are fetched, and again after a change", async () => {
  const { player, calls, take } = await start();
  player.state.queue = { index: 0, count: 1_000_000, version: 5, revision: 9 };
  let changes = 0;
  const queue = new Queue(player, () => (changes += 1));
  queue.update();
  assert.deepEqual([queue.count, calls.length, changes], [1_000_000, 0, 1]);
  queue.want(500_190, 500_205);
  assert.deepEqual(calls.map(({ params }) => params.offset), [500_100, 500_200]);
  queue.want(500_190, 500_205);
  assert.equal(calls.length, 2, "a page that is on its way is not fetched twice");
  take("queue.list").resolve({
    items: Array.from({ length: 100 }, (_, index) => ({ id: index + 1, title: `Item ${500_100 + index}` }))
  });
  take("queue.list").resolve({ items: [] });
  await settle();
  assert.equal(queue.item(500_195).title, "Item 500195");
  assert.deepEqual([queue.indexOf({ id: 96 }), queue.indexOf({ id: 777 })], [500_195, null]);
  player.state.queue = {...player.state.queue, revision: 10 };
  queue.update();
  assert.equal(queue.item(500_195).title, "Item 500195", "old rows stay until the new ones are here");
  queue.want(500_190, 500_199);
  assert.equal(calls.length, 1);
  queue.move({ id: 3 }, 0);
  assert.deepEqual(calls.at(-1).params, { ids: [3], to: 0, session: "main" });
});

test("items that cannot be fetched are asked for at the next state, not at once and for ever", async () => {
  let asked = 0;
  const state = base({ queue: { index: 0, count: 300, version: 1, revision: 1 } });
  const player = {
    state,
    call() {
      asked += 1;
      // Without this end the test would never end, as the page did not.
      return asked > 50 ? new Promise(() => {}) : Promise.reject(CallError.offline());
    },
  };
  // As the view does: each change draws the rows in sight, which wants their items.
  const queue = new Queue(player, () => queue.want(0, 9));
  queue.update();
  await settle();
  assert.equal(asked, 1);
  state.queue = {...state.queue, revision: 2 };
  queue.update();
  await settle();
  assert.equal(asked, 2);
});
