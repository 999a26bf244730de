// The trial of a sanitizer before its reports count: `make sanitize` runs this without an argument, where it must find
// nothing, and with the name of each fault, which it must find.

import Glibc
import Synchronization

/// Four threads that contend for one Mutex, and count beside it where a fault is wanted.
final class Contention: Sendable {
    static let shared = Contention()
    private let guarded = Mutex<[Int]>([])
    nonisolated(unsafe) var isRacing = false
    nonisolated(unsafe) private var bare = 0

    func run() {
        let threads = (0..<4).map { _ in
            var thread = pthread_t()
            pthread_create(
                &thread, nil,
                { _ in
                    Contention.shared.contend()
                    return nil
                }, nil)
            return thread
        }
        for thread in threads { pthread_join(thread, nil) }
    }

    private func contend() {
        for number in 0..<20_000 {
            guarded.withLock { numbers in
                numbers.append(number)
                if numbers.count > 100 { numbers = [] }
            }
            if isRacing { bare += 1 }
        }
    }
}

switch CommandLine.arguments.dropFirst().first {
case "thread":
    Contention.shared.isRacing = true
    Contention.shared.run()
case "address":
    let memory = UnsafeMutablePointer<Int>.allocate(capacity: 1)
    memory.initialize(to: 0)
    memory.deallocate()
    exit(Int32(memory.pointee))
default:
    Contention.shared.run()
}
