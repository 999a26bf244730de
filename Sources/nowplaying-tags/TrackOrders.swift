import CLinux
import Glibc
import TrackReading

/// Carries out orders for tracks: reads each of their files and sends its facts. Answers go out together, at most so many
/// milliseconds after the first of them.
struct TrackOrders {
    private let socket: Int32
    private let reader = TrackReader()
    private var answers: [UInt8] = []

    /// Nanoseconds for which an answer waits for others.
    private static let patience: Int64 = 50_000_000
    /// Bytes of answers that wait, at most.
    private static let mostBytes = 64 << 10

    /// Answers go to this socket.
    init(_ socket: Int32) { self.socket = socket }

    /// Reads the open files and closes them. `keepsComments`: all fields of the tags are answered, too. False: nobody takes the
    /// answers.
    mutating func carryOut(_ files: ArraySlice<Int32>, keepsComments: Bool) -> Bool {
        var sent = Self.now
        for (index, file) in files.enumerated() {
            // The position is shared with the program that opened the file: it sees there which file we read.
            lseek(file, 1, Int32(SEEK_SET))
            let answer: TrackAnswer
            do throws(TrackReadingError) {
                answer = .found(try reader.read(file, keepsComments: keepsComments))
            } catch { answer = .refused(error) }
            close(file)
            answer.append(to: &answers, index: index)
            let isLast = index == files.count - 1
            guard isLast || answers.count >= Self.mostBytes || Self.now - sent >= Self.patience else { continue }
            guard send() else { return false }
            sent = Self.now
        }
        return true
    }

    private mutating func send() -> Bool {
        var done = 0
        while done < answers.count {
            let count = answers[done...].withUnsafeBytes { linux_send(socket, $0.baseAddress, $0.count, nil, 0) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            done += count
        }
        answers.removeAll(keepingCapacity: true)
        return true
    }

    private static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
