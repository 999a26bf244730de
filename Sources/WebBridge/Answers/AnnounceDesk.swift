import CLinux
import ControlProtocol
import Glibc
import LinuxSystem
import NowPlaying
import WebAccess
import WebProtocol

/// Announcements. The body of a request is the sound, or the text to speak.
@PlayerLoop final class AnnounceDesk {
    private let services: Services
    private let judge: AccessJudge
    /// Callers whose announcements have not ended.
    private var active: [Int: (caller: AccessCaller, daemon: Upstream)] = [:]
    private var lastNumber = 0
    private var places: [WeakPlace] = []

    /// The right of a caller to one announcement while its body arrives. It ends with its last reference.
    final class Place {
        fileprivate let caller: AccessCaller

        fileprivate init(_ caller: AccessCaller) { self.caller = caller }
    }

    private struct WeakPlace { weak var place: Place? }

    /// Maximum number of announcements at the same time.
    private static let maximum = 4

    /// A desk without announcements.
    init(_ services: Services, _ judge: AccessJudge) {
        self.services = services
        self.judge = judge
    }

    /// Throws if no program speaks texts.
    func checkSpeech() throws(HTTPFault) {
        guard services.speech.canSpeak else {
            throw HTTPFault(.unsupportedMediaType, "no program speaks texts; name one as “speech” in [web]")
        }
    }

    /// A place for an announcement, before its body arrives. Throws if the caller has to wait.
    func reserve(_ caller: AccessCaller) throws(HTTPFault) -> Place {
        guard caller.role >= .control else {
            throw HTTPFault(.forbidden, "an announcement needs the role control")
        }
        places.removeAll { $0.place == nil }
        let callers = active.values.map(\.caller) + places.compactMap { $0.place?.caller }
        guard callers.count < Self.maximum, !callers.contains(caller) else {
            throw HTTPFault(
                .tooManyRequests, "an announcement of this caller, or \(Self.maximum) of others, have not ended",
                headers: ["Retry-After": "5"])
        }
        let place = Place(caller)
        places.append(WeakPlace(place: place))
        return place
    }

    /// Plays the sound of a request, or speaks its text.
    func serve(_ request: AnnounceRequest, _ caller: AccessCaller, _ exchange: HTTPExchange) {
        guard request.isText else { return play(exchange.takeBody(), request, caller, exchange) }
        do throws(HTTPFault) {
            try checkSpeech()
            try services.speech.speak(exchange.takeBody()) { [unowned self] outcome in
                switch outcome {
                case .success(let sound) where judge.isAdmitted(caller): play(sound, request, caller, exchange)
                case .success: exchange.answer(HTTPAnswer(WebDesk.refused))
                case .failure(let fault): exchange.answer(HTTPAnswer(fault))
                }
            }
        } catch { exchange.answer(HTTPAnswer(error)) }
    }

    private func play(
        _ sound: [UInt8], _ request: AnnounceRequest, _ caller: AccessCaller, _ exchange: HTTPExchange
    ) {
        do throws(HTTPFault) {
            // From now on, the announcement counts as playing.
            exchange.releasePlace()
            let file = try Self.sealed(sound)
            let daemon: Upstream
            do throws(RPCError) { daemon = try services.daemon(caller, .control) } catch {
                return exchange.answer(.refusal(error))
            }
            lastNumber += 1
            let number = lastNumber
            active[number] = (caller, daemon)
            daemon.onLine = { [unowned self] line, _ in
                guard !Upstream.isNotification(line) else { return }
                exchange.answer(Self.answer(line))
                finish(number)
            }
            daemon.onEnd = { [unowned self] refusal in
                exchange.answer(.refusal(refusal ?? Services.daemonHasEnded))
                finish(number)
            }
            daemon.send(Upstream.request(id: "1", "announce", try Self.parameters(request)), with: file)
            if !request.waits { exchange.answer(.json(Array(#"{"status":"accepted"}"#.utf8), .accepted)) }
        } catch { exchange.answer(HTTPAnswer(error)) }
    }

    private func finish(_ number: Int) {
        guard let ended = active.removeValue(forKey: number) else { return }
        services.loop.later { ended.daemon.close() }
    }

    /// Ends all speech.
    func end() { services.speech.end() }

    private static func answer(_ line: [UInt8]) -> HTTPAnswer {
        let isError = (try? JSONReader.read(line))?["error"] != nil
        return .json(line, isError ? .badRequest : .ok)
    }

    private static func parameters(_ request: AnnounceRequest) throws(HTTPFault) -> JSONObject {
        var parameters = JSONObject([.init("descriptor", 0), .init("uri", "announcement")])
        for item in request.parameters {
            guard item.name != "policy" else {
                parameters[item.name] = .string(item.value)
                continue
            }
            guard let number = Double(item.value), number.isFinite else {
                throw HTTPFault(.badRequest, "“\(item.name)” has to be a number")
            }
            parameters[item.name] = .number(number)
        }
        return parameters
    }

    /// The sound in a sealed file.
    private static func sealed(_ bytes: [UInt8]) throws(HTTPFault) -> OwnedDescriptor {
        guard !bytes.isEmpty else { throw HTTPFault(.badRequest, "the body has to be a sound") }
        let file = OwnedDescriptor(linux_sealable_file("announcement"))
        var sent = 0
        while file.number >= 0, sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                pwrite(file.number, $0.baseAddress! + sent, $0.count - sent, off_t(sent))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            sent += count
        }
        guard sent == bytes.count, linux_seal(file.number) == 0 else {
            throw HTTPFault(.unavailable, "out of memory for this sound")
        }
        // The daemon gets a descriptor of the sealed file that is open only for reading.
        let reading = linux_open("/proc/self/fd/\(file.number)", O_RDONLY | O_CLOEXEC, 0)
        guard reading >= 0 else { throw HTTPFault(.unavailable, "out of descriptors for this sound") }
        return OwnedDescriptor(reading)
    }
}
