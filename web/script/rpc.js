// The words of JSON-RPC: requests, answers and errors.

// A call that the server refused, or that the connection did not survive.
export class CallError extends Error {
  constructor({ code = 0, message = "", data = {} } = {}) {
    super(message);
    this.name = "CallError";
    this.code = code;
    this.status = data?.status ?? "";
    this.reason = data?.reason ?? "";
  }

  // The server did not get the request, or nobody knows: the connection ended.
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

// One frame of the server as a list of messages; a frame that is no JSON is an empty list.
export function messages(text) {
  try {
    const value = JSON.parse(text);
    return (Array.isArray(value) ? value : [value]).filter((one) => one !== null && typeof one === "object");
  } catch {
    return [];
  }
}
