import LinuxSystem
import MPDProtocol

/// Result of a command.
enum Outcome: Equatable, Sendable {
    case ok
    case failed(MPDFailure)
    /// The client waits for changes of these from now on.
    case idles(SubsystemSet)
    /// The connection ends without an answer.
    case closes
}

/// Takes the result of a command; called exactly once.
typealias Finish = @PlayerLoop (Outcome) -> Void

/// A long answer that is made while it is read: a reader that is slow costs no memory.
@PlayerLoop protocol AnswerStream: AnyObject {
    /// Writes some rows and says how it goes on.
    func write(_ writer: inout AnswerWriter) -> AnswerProgress
}

/// Way in which a long answer goes on.
enum AnswerProgress: Equatable, Sendable {
    /// There are more rows at once.
    case more
    /// There are more rows in the next turn of the loop.
    case pauses
    /// More rows come later: the client is asked to go on then (`MPDClient.proceed`).
    case waits
    case ends(Outcome)
}

/// Result of requests that were to be carried out as one change.
enum JointOutcome: Equatable, Sendable {
    /// The first of them were carried out, as many as there are ids. An id is nil where the answer has none.
    case done([Int64?])
    /// The first one has to be carried out alone.
    case first
    /// None was carried out, because one of them cannot be.
    case refused
}

/// Takes the result of requests that were to be carried out as one change; called exactly once.
typealias JointFinish = @PlayerLoop (JointOutcome) -> Void
