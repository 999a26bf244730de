package import AudioCore
package import NowPlaying

/// Refusals of commands, errors of items, and runs of them.
extension Transport {
    /// Reason why a command cannot be carried out.
    package enum Refusal: Error, Equatable, Sendable {
        /// The command needs an item and there is none.
        case noItem
        /// The item does not exist in the queue.
        case noSuchItem
        /// The position lies outside the item; `duration` nil: it is unknown. Both in seconds.
        case outOfRange(Double, duration: Double?)
    }

    /// A run of items that failed without an audible sample between them.
    package struct FailureRun: Equatable, Sendable {
        /// In the order of their failures; never empty.
        package var items: [ItemID]
        /// Address of the last one; it may have left the queue since.
        package var uri: String
        /// Error of the last one.
        package var fault: Fault
        /// Position at which the first one was to play, in seconds.
        package var position: Double
        /// First one that may be playable later, and the position at which it was to play in seconds; nil: none.
        package var awaited: Awaited?

        package var first: ItemID { items[0] }
        package var last: ItemID { items[items.count - 1] }
        package var count: Int { items.count }
        package var message: String { fault.message }
    }

    /// Item whose source may be reachable later.
    package struct Awaited: Equatable, Sendable {
        let item: ItemID
        /// Position at which it was to play, in seconds.
        let position: Double
    }

    /// Error of an item.
    package struct Fault: Equatable, Sendable {
        let code: FaultCode
        /// Text for people, without control characters.
        let message: String

        /// An error of this kind with this text.
        package init(_ code: FaultCode, _ message: String) {
            self.code = code
            self.message = message
        }

        /// The error of a decoder.
        package init(_ error: DecodingError) {
            message = error.message
            switch error.kind {
            case .unavailable: code = .unavailable
            case .notRecognised: code = .notRecognised
            case .broken: code = .broken
            case .mediaGone, .notMounted, .ended: code = .lost
            case .noNetwork: code = .noNetwork
            case .unreachable: code = .unreachable
            }
        }
    }
}
