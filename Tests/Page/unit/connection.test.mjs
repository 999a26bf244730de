import assert from "node:assert/strict";
import { test } from "node:test";

import { Connection } from "../../../web/script/connection.js";
import { latest } from "../../../web/script/latest.js";
import { CallError, messages } from "../../../web/script/rpc.js";

// A page with sockets and timers that the test moves by hand.
function page() {
  const here = { sockets: [], timers: [], states: [], notes: [], isVisible: true, isRefused: false, now: 0 };
  here.connection = new Connection({
    openSocket() {
      const socket = { sent: [], send: (text) => socket.sent.push(JSON.parse(text)), close: () => (socket.isClosed = true) };
      here.sockets.push(socket);
      return socket;
    },
    isVisible: () => here.isVisible, isRefused: async () => here.isRefused, random: () => 1, now: () => here.now,
    setTimer(action, seconds) {
      const timer = { action, seconds };
      here.timers.push(timer);
      return timer;
    },
    clearTimer: (timer) => (here.timers = here.timers.filter((one) => one !== timer)),
  }, { changed: (state) => here.states.push(state), notified: (method, params) => here.notes.push([method, params]) });
  here.socket = () => here.sockets.at(-1);
  here.answer = (value) => here.socket().onmessage({ data: JSON.stringify({ jsonrpc: "2.0", ...value }) });
  here.fire = () => here.timers.shift().action();
  here.connection.connect();
  return here;
}
const settle = () => new Promise((resolve) => setImmediate(resolve));

test("calls get their own answers, in any order, and notifications pass", async () => {
  const here = page();
  here.socket().onopen();
  const [first, second] = [here.connection.call("a"), here.connection.call("b", { x: 1 })];
  assert.deepEqual(here.socket().sent.map(({ method, params }) => [method, params]), [["a", {}], ["b", { x: 1 }]]);
  const [one, two] = here.socket().sent.map(({ id }) => id);
  here.answer({ id: two, result: "two" });
  here.answer({ method: "nowPlaying.changed", params: { seq: 3 } });
  here.answer({ id: one, error: { code: 200, message: "no", data: { status: "commandFailed", reason: "disabled" } } });
  assert.equal(await second, "two");
  await assert.rejects(first, (error) => error instanceof CallError && error.code === 200 && error.reason === "disabled");
  assert.deepEqual(here.notes, [["nowPlaying.changed", { seq: 3 }]]);
});

test("frames that are no messages change nothing", () => {
  for (const text of ["", "{", "null", "3", "[null, 4]"]) assert.deepEqual(messages(text), []);
  const here = page();
  here.socket().onopen();
  here.socket().onmessage({ data: "]" });
  here.answer({ id: 99, result: 1 });
  assert.deepEqual(here.notes, []);
});

test("a lost socket fails its calls and is opened again at once", async () => {
  const here = page();
  here.socket().onopen();
  here.connection.prove();
  here.now = 1;
  const call = here.connection.call("a");
  here.socket().onclose();
  await assert.rejects(call, (error) => error.isOffline);
  assert.equal(here.sockets.length, 2);
  assert.deepEqual(here.states, ["connecting", "open", "waiting", "connecting"]);
  await assert.rejects(here.connection.call("b"), (error) => error.isOffline);
});

test("the words of the server about the end of a socket stay until another one is of use", () => {
  const here = page();
  here.socket().onopen();
  here.connection.prove();
  here.now = 1;
  const said = { code: 1012, reason: "nowplayingd has ended" };
  here.socket().onclose(said);
  assert.deepEqual(here.connection.ending, said);
  here.socket().onclose({ code: 1006, reason: "" });
  here.connection.connect();
  here.socket().onopen();
  assert.deepEqual(here.connection.ending, said);
  here.connection.prove();
  assert.equal(here.connection.ending.reason, "");
});

test("attempts that fail are repeated ever later, at most after 5 s", async () => {
  const here = page();
  const delays = [];
  for (let count = 0; count < 8; count += 1) {
    here.socket().onclose();
    await settle();
    delays.push(here.timers[0].seconds);
    here.fire();
  }
  assert.deepEqual(delays, [0.5, 1, 2, 4, 5, 5, 5, 5]);
});

test("sockets that close before the daemon has answered are opened again ever later, and are no refusals", async () => {
  const here = page();
  here.isRefused = true;
  const delays = [];
  for (let count = 0; count < 5; count += 1) {
    here.socket().onopen();
    // nowplaying-web answers some calls by itself.
    here.connection.call("clock.now").catch(() => {});
    here.answer({ id: here.socket().sent[0].id, result: {} });
    here.socket().onclose();
    await settle();
    assert.equal(here.sockets.length, count + 1);
    delays.push(here.timers[0].seconds);
    here.fire();
  }
  assert.deepEqual(delays, [0.5, 1, 2, 4, 5]);
  here.socket().onopen();
  here.connection.prove();
  here.now = 1;
  here.socket().onclose();
  assert.equal(here.sockets.length, 7, "a socket that worked is opened again at once");
  here.socket().onclose();
  await settle();
  assert.equal(here.connection.state, "refused");
});

test("sockets that end soon after the daemon's answer are opened again ever later", async () => {
  const here = page();
  const delays = [];
  for (let count = 0; count < 3; count += 1) {
    here.socket().onopen();
    here.connection.prove();
    here.now += 0.1;
    here.socket().onclose();
    delays.push(here.timers[0].seconds);
    here.fire();
  }
  assert.deepEqual(delays, [0.5, 1, 2]);
});

test("a socket of no use is closed, and the next one comes later", async () => {
  const here = page();
  here.socket().onopen();
  const call = here.connection.call("a");
  here.connection.giveUp();
  await assert.rejects(call, (error) => error.isOffline);
  assert.deepEqual([here.sockets[0].isClosed, here.connection.state, here.timers[0].seconds], [true, "waiting", 0.5]);
  // Its end comes later, and counts once.
  here.sockets[0].onclose();
  await settle();
  assert.deepEqual([here.sockets.length, here.timers.length], [1, 1]);
});

test("a refusal ends the attempts until the page is paired", async () => {
  const here = page();
  here.isRefused = true;
  here.socket().onclose();
  await settle();
  assert.equal(here.connection.state, "refused");
  assert.equal(here.timers.length, 0);
  here.connection.retry();
  here.socket().onopen();
  assert.equal(here.connection.state, "open");
});

test("a hidden page has no timer, and connects when it is visible again", async () => {
  const here = page();
  here.isVisible = false;
  here.socket().onclose();
  await settle();
  assert.deepEqual([here.connection.state, here.timers.length, here.sockets.length], ["waiting", 0, 1]);
  here.isVisible = true;
  here.connection.wake(async () => {});
  assert.equal(here.sockets.length, 2);
});

test("a socket that does not answer after a sleep is replaced; one that does is kept", async () => {
  const here = page();
  here.socket().onopen();
  here.connection.wake(() => here.connection.call("clock.now"));
  here.answer({ id: here.socket().sent[0].id, result: {} });
  await settle();
  assert.deepEqual([here.timers.length, here.sockets.length], [0, 1]);
  here.connection.wake(() => here.connection.call("clock.now").catch(() => {}));
  assert.ok(here.timers[0].seconds <= 0.3);
  here.fire();
  assert.equal(here.sockets.length, 2);
  assert.equal(here.sockets[0].isClosed, true);
  // The end of the old socket is not the end of the new one.
  here.sockets[0].onclose();
  here.socket().onopen();
  assert.equal(here.connection.state, "open");
});

test("an attempt that began in another network is replaced when the page wakes; a young one is kept", () => {
  const here = page();
  here.now = 0.5;
  here.connection.wake(async () => {});
  assert.equal(here.sockets.length, 1);
  here.now = 30;
  here.connection.wake(async () => {});
  assert.deepEqual([here.sockets.length, here.sockets[0].isClosed, here.connection.state], [2, true, "connecting"]);
  // The new attempt is young.
  here.connection.wake(async () => {});
  assert.equal(here.sockets.length, 2);
  here.sockets[0].onclose();
  here.socket().onopen();
  assert.equal(here.connection.state, "open");
});

test("of the values of a slider the last one is sent, one at a time", async () => {
  const sent = [];
  const waiting = [];
  const send = latest((value) => {
    sent.push(value);
    return new Promise((resolve) => waiting.push(resolve));
  });
  for (const value of [1, 2, 3, 4]) send(value);
  assert.deepEqual(sent, [1]);
  waiting.shift()();
  await settle();
  assert.deepEqual(sent, [1, 4]);
});
