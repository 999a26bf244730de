import Glibc

/// Seeds of made libraries, from 1 on: `count` by day, more by night.
package func seeds(_ count: UInt64, nightly: UInt64) -> [UInt64] {
    Array(1...(getenv("NOWPLAYING_NIGHTLY") != nil ? nightly : count))
}
