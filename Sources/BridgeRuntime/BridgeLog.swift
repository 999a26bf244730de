import ControlProtocol
import Glibc
package import LinuxSystem
import NowPlaying

/// The log of a bridge: entries of the journal if standard error is connected to it, else lines on standard error. They are
/// escaped so that no text can harm a terminal. For one thread.
package struct BridgeLog: Sendable {
    /// The program's name. It precedes each line that does not go to the journal.
    package let program: String
    private let isJournal = getenv("JOURNAL_STREAM") != nil

    /// A log of this program.
    package init(program: String) { self.program = program }

    /// Logs an error. `fault`: its number for the journal.
    package func error(_ message: String, _ fault: KnownFault? = nil) { write(3, "error: ", message, fault) }

    /// Logs a fault after which the program continues. `fault`: its number for the journal.
    package func warning(_ message: String, _ fault: KnownFault? = nil) { write(4, "warning: ", message, fault) }

    /// Logs a normal event.
    package func info(_ message: String) { write(6, "", message, nil) }

    /// Logs configuration files that this user cannot read.
    func warn(ofUnreadable paths: [String]) {
        for path in paths {
            warning("ignored \(path): permission denied; make it readable, or remove it")
        }
    }

    private func write(_ priority: Int, _ kind: String, _ message: String, _ fault: KnownFault?) {
        if let journal = SystemJournal.ofStandardError,
            journal.send(PrintableText.escaped(message), priority: priority, program: program, LogFields(fault))
        {
            return
        }
        var line = (isJournal ? "<\(priority)>" : "\(program): \(kind)") + PrintableText.escaped(message) + "\n"
        line.withUTF8 { _ = Glibc.write(2, $0.baseAddress, $0.count) }
    }
}
