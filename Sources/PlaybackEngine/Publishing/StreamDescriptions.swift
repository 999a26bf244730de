import AudioCore
import LinuxSystem
import NowPlaying

/// Tags that change in the middle of an item, as in a live stream; each is published when its first frame is audible.
@PlayerLoop final class StreamDescriptions {
    /// Tags of an item from a frame on.
    private struct Description {
        var ticket: Int
        var ring: SampleRing
        /// Frame of the ring.
        var from: Int64
        var metadata: MediaMetadata
    }

    private unowned let player: Player
    /// Descriptions that are not audible yet, in order.
    private var waiting: [Description] = []
    private var deadline: EventSource?

    /// Maximum number of waiting descriptions.
    private static let limit = 256

    /// No description waits.
    init(_ player: Player) { self.player = player }

    /// Adds an item's tags from a frame of the ring on.
    func add(_ ticket: Int, _ ring: SampleRing, from: Int64, _ metadata: MediaMetadata) {
        guard player.playout.decoding.link(of: ticket) != nil else { return }
        player.loudness.changes(ticket, in: ring, from: from, metadata.loudness)
        waiting.append(Description(ticket: ticket, ring: ring, from: from, metadata: metadata))
        if waiting.count > Self.limit { waiting.removeFirst() }
        guard let lane = player.playout.audible, lane.ring === ring, player.playout.pending == nil else { return }
        publish(on: lane, upTo: lane.timing.map { player.playout.heardFrame(lane, $0) })
        schedule()
    }

    /// Sets the deadline for the next description.
    func schedule() {
        guard let lane = player.playout.audible, player.playout.pending == nil, !lane.isCorked,
            player.playout.stall == nil,
            let offset = lane.offset, let next = waiting.first(where: { $0.ring === lane.ring }),
            let time = player.playout.heardTime(of: Double(next.from + offset), on: lane)
        else { return cancel() }
        if let deadline {
            deadline.setDeadline(time)
        } else {
            deadline = player.loop.deadline(time) { [unowned self] in
                deadline = nil
                guard let lane = player.playout.audible, player.playout.pending == nil, !lane.isCorked,
                    player.playout.stall == nil
                else {
                    return
                }
                let heard = EventLoop.now.advanced(bySeconds: 0.001 - player.playout.delay(of: lane))
                publish(on: lane, upTo: lane.clock.frame(at: heard))
                schedule()
            }
        }
    }

    /// Cancels the deadline.
    func cancel() { deadline = nil }

    /// Drops all waiting descriptions.
    func forget() { waiting = [] }

    /// Publishes descriptions that are audible. `frame`: the audible stream frame; nil: the first one of the lane.
    func publish(on lane: Lane, upTo frame: Double?) {
        guard let offset = lane.offset else { return }
        let limit = frame ?? Double(lane.audibleFrom)
        let due = waiting.filter { $0.ring === lane.ring && Double($0.from + offset) <= limit }
        guard !due.isEmpty else { return }
        waiting.removeAll { $0.ring === lane.ring && Double($0.from + offset) <= limit }
        var isNew = false
        for description in due {
            guard let link = player.playout.decoding.link(of: description.ticket) else { continue }
            player.loudness.changeIsAudible(
                description.ticket, from: description.from, description.metadata.loudness)
            guard let old = player.queue[link.id]?.details, old.found != description.metadata else { continue }
            let details = old.with(found: description.metadata)
            player.decide { $0.setDetails(details, of: link.id) }
            if player.publisher.shown?.id == link.id {
                player.publisher.setDetails(details)
                isNew = true
            }
        }
        guard isNew, player.publisher.shown != nil, player.playout.pending == nil else { return }
        player.publisher.publish(.metadata)
        player.playout.setTitle(on: lane)
    }
}
