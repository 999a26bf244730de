import assert from "node:assert/strict";
import { test } from "node:test";

import { Rooms } from "../../../web/script/rooms.js";
import { CallError } from "../../../web/script/rpc.js";

const room = (id, group = id) => ({ id, name: id, volume: 50, muted: false, connected: true, latency: 0, group: { id: group } });

// Rooms whose calls wait for the test.
function start() {
  const calls = [];
  let changes = 0;
  const player = {
    isCurrent: true,
    connections: 1,
    onNotification: (method, listener) => (player.notify = listener),
    call: (method, params) => new Promise((resolve, reject) => calls.push({ method, params, resolve, reject })),
  };
  const rooms = new Rooms(player, () => (changes += 1));
  return { player, rooms, calls, changes: () => changes };
}
const settle = () => new Promise((resolve) => setImmediate(resolve));

test("rooms are followed once on each connection", async () => {
  const { player, rooms, calls, changes } = start();
  rooms.follow();
  rooms.follow();
  assert.deepEqual(calls.map(({ method }) => method), ["rooms.subscribe"]);
  calls[0].resolve({ available: true, rooms: [room("a"), room("b")] });
  await settle();
  assert.deepEqual([rooms.isKnown, rooms.problem, rooms.list.length, changes()], [true, null, 2, 1]);
  player.notify({ available: true, rooms: [room("a", "g"), room("b", "g"), room("c")] });
  assert.deepEqual(rooms.companions(rooms.list[0]).map(({ id }) => id), ["b"]);
  assert.deepEqual(rooms.companions(rooms.list[2]), []);
  player.isCurrent = false;
  rooms.follow();
  player.isCurrent = true;
  player.connections = 2;
  rooms.follow();
  assert.equal(calls.length, 2);
});

test("nothing comes after the end, and a page that never looked ends nothing", async () => {
  const { player, rooms, calls, changes } = start();
  rooms.unfollow();
  assert.equal(calls.length, 0);
  rooms.follow();
  rooms.unfollow();
  assert.deepEqual(calls.map(({ method }) => method), ["rooms.subscribe", "rooms.unsubscribe"]);
  calls[0].resolve({ available: true, rooms: [room("a")] });
  player.notify({ available: true, rooms: [] });
  await settle();
  assert.equal(changes(), 0);
  rooms.follow();
  assert.equal(calls.length, 3);
});

test("a refusal is the caller's, and the next look asks again", async () => {
  const { rooms, calls } = start();
  const first = rooms.follow();
  calls[0].reject(new CallError({ code: 200, message: "no server" }));
  await assert.rejects(first, CallError);
  rooms.follow();
  assert.equal(calls.length, 2);
  calls[1].resolve({ available: false, problem: "noAnswer", rooms: [] });
  await settle();
  assert.equal(rooms.problem, "noAnswer");
});

test("a notification changes some rooms, and those of one group stay side by side", async () => {
  const { player, rooms, calls, changes } = start();
  rooms.follow();
  calls[0].resolve({ available: true, rooms: [room("a", "g"), room("b"), room("c", "g")] });
  await settle();
  player.notify({ available: true, rooms: [{ ...room("b"), volume: 9 }, room("d", "g")], removed: ["a"] });
  assert.deepEqual(rooms.list.map(({ id, volume }) => [id, volume]), [["b", 9], ["c", 50], ["d", 50]]);
  player.notify({ available: true, whole: true, rooms: [room("x")] });
  assert.deepEqual(rooms.list.map(({ id }) => id), ["x"]);
  player.notify({ available: false, problem: "unreachable", rooms: [] });
  assert.deepEqual([rooms.problem, rooms.list.length], ["unreachable", 0]);
  // After an outage all rooms come.
  player.notify({ available: true, whole: true, rooms: [room("y")] });
  assert.deepEqual([rooms.problem, rooms.list.length, changes()], [null, 1, 5]);
});
