import CLinux
import Glibc
import LinuxSystem
import WebAccess
import WebProtocol

/// Converts texts of announcements to sound with the program of the configuration.
@PlayerLoop final class SpeechDesk {
    private let loop: EventLoop
    private var program: [String]
    private var active: [Int: Speech] = [:]
    private var lastNumber = 0

    /// A desk with this program and its arguments; empty: none.
    init(_ loop: EventLoop, _ program: [String]) {
        self.loop = loop
        self.program = program
    }

    /// True if texts can be spoken.
    var canSpeak: Bool { !program.isEmpty }

    /// Sets another program for further texts.
    func reload(_ program: [String]) { self.program = program }

    /// Calls `done` once with the sound of a text. Throws a refusal in words.
    func speak(_ body: [UInt8], _ done: @escaping @PlayerLoop (Speech.Outcome) -> Void) throws(HTTPFault) {
        let text = try Speech.checked(body)
        lastNumber += 1
        let number = lastNumber
        active[number] = try Speech(loop, program, text, helper: Self.ownPath()) { [unowned self] outcome in
            // A handler of this object is on the stack.
            if let ended = active.removeValue(forKey: number) { loop.later { _ = ended } }
            done(outcome)
        }
    }

    private static func ownPath() throws(HTTPFault) -> String {
        var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = bytes.withUnsafeMutableBytes {
            readlink("/proc/self/exe", $0.baseAddress!.assumingMemoryBound(to: CChar.self), $0.count)
        }
        guard count > 0 else { throw HTTPFault(.unavailable, "cannot find the program of nowplaying-web in /proc") }
        return String(decoding: bytes[..<count], as: UTF8.self)
    }

    /// Ends all speech.
    func end() { active = [:] }
}
