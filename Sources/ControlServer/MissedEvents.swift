import ControlProtocol
import LinuxSystem

/// The events that a client missed while it did not read: of each subject that it follows the newest, and the kinds of all.
struct MissedEvents {
    private struct Slot {
        /// Nil: the present one, whichever that is.
        let subject: String?
        var newest: ServerEvent
        /// Number of events that it stands for.
        var count = 1
        /// All kinds in the order of their first event.
        var kinds: [String]
    }

    /// Subjects at once, at most: of those that are gone, the oldest are forgotten.
    static let maximum = 64
    /// In the order of their newest events.
    private var slots: [Slot] = []

    /// Nothing was missed.
    init() {}

    /// Keeps an event in place of an earlier one of the same subject (nil: the present one). `exists`: whether there is a
    /// subject of this name. There are fewer than the limit.
    mutating func add(_ event: ServerEvent, of subject: String?, exists: (String) -> Bool) {
        var slot = Slot(subject: subject, newest: event, kinds: [])
        let isTopic = event.reach == .topic
        if let index = slots.firstIndex(where: { $0.subject == subject && ($0.newest.reach == .topic) == isTopic }) {
            let before = slots.remove(at: index)
            slot.kinds = before.kinds
            slot.count += before.count
        } else if slots.count >= Self.maximum {
            slots.remove(
                at: slots.firstIndex { $0.newest.reach != .topic && $0.subject.map { !exists($0) } ?? false } ?? 0)
        }
        if !slot.kinds.contains(event.kind) { slot.kinds.append(event.kind) }
        slots.append(slot)
    }

    /// Forgets all but the events of topics.
    mutating func keepTopics() { slots.removeAll { $0.newest.reach != .topic } }

    /// The newest notification of each subject, with `causes` in it if it stands for more than one event.
    @PlayerLoop func write(to output: inout [UInt8]) {
        for slot in slots { Self.write(slot, to: &output) }
    }

    @PlayerLoop private static func write(_ slot: Slot, to output: inout [UInt8]) {
        let line = slot.count > 1 ? slot.newest.merged?() ?? slot.newest.line : slot.newest.line
        guard slot.kinds.count > 1 else {
            output += line
            return
        }
        // The line ends with the end of the parameters, of the notification, and itself: }}\n.
        var writer = JSONWriter(output + line.dropLast(3))
        writer.key("causes")
        writer.beginArray()
        for kind in slot.kinds { writer.string(kind) }
        writer.endArray()
        writer.endObject()
        writer.endObject()
        writer.newline()
        output = writer.bytes
    }
}
