import LinuxSystem
import MPDProtocol

/// Result of a command.
enum Outcome: Equatable, Sendable {
    case ok
    case failed(MPDFailure)
    /// The client now waits for changes of these subsystems.
    case idles(SubsystemSet)
    /// The connection ends without an answer.
    case closes
}

/// Takes the result of a command; called exactly once.
typealias Finish = @PlayerLoop (Outcome) -> Void

/// A long answer that is made while the client reads it: a slow reader costs no memory.
@PlayerLoop protocol AnswerStream: AnyObject {
    /// Writes some rows and returns the next step.
    func write(_ writer: inout AnswerWriter) -> AnswerProgress
}

/// The next step of a long answer.
enum AnswerProgress: Equatable, Sendable {
    /// There are more rows at once.
    case more
    /// There are more rows in the next turn of the loop.
    case pauses
    /// More rows come later: a call of `MPDClient.proceed` then continues the answer.
    case waits
    case ends(Outcome)
}

/// Result of requests that should be carried out as one change.
enum JointOutcome: Equatable, Sendable {
    /// The first requests were carried out, one for each id. An id is nil if the request's answer has none.
    case done([Int64?])
    /// The first request has to be carried out alone.
    case first
    /// No request was carried out, as one of them cannot be.
    case refused
}

/// Takes the result of requests that should be carried out as one change; called exactly once.
typealias JointFinish = @PlayerLoop (JointOutcome) -> Void
