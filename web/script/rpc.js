// JSON-RPC: requests, answers and errors.

// A call that the server refused, or that the connection did not survive.
export class CallError extends Error {
  constructor({ code = 0, message = "", data = {} } = {}) {
    super(message);
    this.name = "CallError";
    this.code = code;
    this.status = data?.status ?? "";
    this.reason = data?.reason ?? "";
  }

  // The connection ended: the server may not have got the request.
  static offline() {
    return new CallError({ code: -1, message: "", data: { status: "offline" } });
  }

  get isOffline() {
    return this.status === "offline";
  }
}

export function request(id, method, params) {
  return JSON.stringify({ jsonrpc: "2.0", id, method, params });
}

// The address of the WebSocket beside the page, whose own address may have a base path.
export function socketAddress(page) {
  const address = new URL("rpc", page);
  address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
  return address.href;
}

// The messages in one frame of the server; none if the frame is not JSON.
export function messages(text) {
  try {
    const value = JSON.parse(text);
    return (Array.isArray(value) ? value : [value]).filter((one) => one !== null && typeof one === "object");
  } catch {
    return [];
  }
}
