import ControlProtocol
import LinuxSystem
import NowPlaying
import WebAccess
import WebProtocol

/// Pairing, the first half of proofs, and delayed refusals of wrong guesses.
@PlayerLoop final class PairDesk {
    private let loop: EventLoop
    private let judge: AccessJudge
    private var basePath: BasePath
    private var delays: [Int: EventSource] = [:]
    private var lastNumber = 0

    /// Maximum number of waiting refusals. Further refusals are immediate, and the connection is closed.
    private static let maximumDelays = 128

    /// A desk for the devices of this judge. `basePath`: the path of the cookies of browsers.
    init(_ loop: EventLoop, _ judge: AccessJudge, _ basePath: BasePath) {
        self.loop = loop
        self.judge = judge
        self.basePath = basePath
    }

    /// Applies a new path to further cookies.
    func reload(_ basePath: BasePath) { self.basePath = basePath }

    /// Takes a code: `{code, name}`.
    func serve(_ exchange: HTTPExchange) {
        guard let body = try? JSONReader.read(exchange.takeBody()), let code = body["code"]?.stringValue else {
            return exchange.answer(HTTPAnswer(HTTPFault(.badRequest, "a pairing needs “code” and “name”")))
        }
        let request = exchange.access(.pairing)
        let name = body["name"]?.stringValue ?? ""
        switch judge.pair(code, name: name, request, at: .now, wall: WallTime.now) {
        case .paired(let token, let device):
            var writer = JSONWriter()
            writer.value([
                "token": .string(token.text), "id": .string(device.id), "role": .string(device.role.rawValue),
            ])
            var answer = HTTPAnswer.json(writer.bytes)
            // A browser keeps the cookie out of the reach of scripts.
            if !exchange.head.values("origin").isEmpty, let cookie = request.cookie(token.text, below: basePath) {
                answer.add("Set-Cookie", cookie)
            }
            exchange.answer(answer)
        case .refused(let delay, let message):
            refuse(exchange, HTTPExchange.Refusal(fault: HTTPFault(.forbidden, message), delay: delay))
        }
    }

    /// Takes the claim of a device: `{device, address, way, sent}`.
    func prove(_ exchange: HTTPExchange) {
        let body = try? JSONReader.read(exchange.takeBody())
        guard let claim = ProofClaim({ body?[$0]?.stringValue }) else {
            return exchange.answer(
                HTTPAnswer(HTTPFault(.badRequest, "a proof needs “device”, “address”, “way” and “sent”")))
        }
        switch judge.prove(claim, exchange.access(.pairing), at: .now) {
        case .proven(let nonce, let role, let proof):
            var writer = JSONWriter()
            writer.value(["nonce": .string(nonce), "role": .string(role.rawValue), "proof": .string(proof)])
            exchange.answer(.json(writer.bytes))
        case .elsewhere:
            exchange.answer(
                HTTPAnswer(
                    HTTPFault(
                        .conflict,
                        "nowplaying-web was not dialled at this address; its owner has to confirm the address")))
        case .refused(let delay):
            let fault = HTTPFault(.unauthorized, "this device is not paired; “nowplayingctl pair” shows how")
            refuse(exchange, HTTPExchange.Refusal(fault: fault, delay: delay))
        }
    }

    /// Refuses a request after its delay.
    func refuse(_ exchange: HTTPExchange, _ refusal: HTTPExchange.Refusal) {
        let answer = HTTPAnswer(refusal.fault)
        guard refusal.delay > 0, delays.count < Self.maximumDelays else { return exchange.answer(answer) }
        lastNumber += 1
        let number = lastNumber
        delays[number] = loop.deadline(EventLoop.now.advanced(bySeconds: refusal.delay)) { [unowned self] in
            delays[number] = nil
            exchange.answer(answer)
        }
    }
}
