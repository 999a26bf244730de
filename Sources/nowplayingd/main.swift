import LinuxSystem
import NowPlaying

let t0 = EventLoop.now
nonisolated(unsafe) var keep: [EventSource] = []
let status = PlayerLoop.run { loop in
    let s = LoopSignal(loop) { print("signalled");  }
    _ = DetachedThread.start("worker") { s.notify() }
    keep.append(
        loop.deadline(t0.advanced(bySeconds: 0.2)) {
            print("deadline", EventLoop.now.seconds(since: t0))
            withExtendedLifetime(s) {}
            Task { @PlayerLoop in
                print("task"); loop.exit(3)
            }
        })
    loop.later { print("later") }
}
print(status)
