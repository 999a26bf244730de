import assert from "node:assert/strict";
import { test } from "node:test";

import { Library } from "../../../web/script/library.js";
import { CallError } from "../../../web/script/rpc.js";

test("the number of an album that could not be asked for is asked for again", async () => {
  let calls = 0;
  const library = new Library({
    call: () => (++calls === 1 ? Promise.reject(CallError.offline()) : Promise.resolve({ rows: [{ albumId: 7 }] })),
  });
  const filter = { album: { is: "Tidewater" } };
  await assert.rejects(library.albumId(filter));
  assert.equal(await library.albumId(filter), 7);
  assert.equal(await library.albumId(filter), 7);
  assert.equal(calls, 2);
});
