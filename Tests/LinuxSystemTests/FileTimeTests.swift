import Glibc
import LinuxSystem
import Testing

/// Times of files, also those that no honest clock has shown.
@Suite struct FileTimeTests {
    @Test("a time beyond what nanoseconds can count is the nearest that they can")
    func nanoseconds() {
        #expect(timespec(tv_sec: 1_700_000_000, tv_nsec: 5).nanoseconds == 1_700_000_000_000_000_005)
        #expect(timespec(tv_sec: -2, tv_nsec: 999_999_999).nanoseconds == -1_000_000_001)
        #expect(timespec(tv_sec: 9_223_372_036, tv_nsec: 854_775_807).nanoseconds == .max)
        #expect(timespec(tv_sec: 9_223_372_036, tv_nsec: 999_999_999).nanoseconds == .max)
        for far in [9_223_372_037, .max] { #expect(timespec(tv_sec: far, tv_nsec: 1).nanoseconds == .max) }
        for far in [-9_223_372_038, .min] { #expect(timespec(tv_sec: far, tv_nsec: 1).nanoseconds == .min) }
    }

    @Test("seconds between two times are never too many to be counted")
    func seconds() {
        let now = timespec(tv_sec: 1_700_000_000, tv_nsec: 0)
        #expect(now.seconds(since: timespec(tv_sec: 1_699_999_998, tv_nsec: 7)) == 2)
        #expect(now.seconds(since: timespec(tv_sec: .min, tv_nsec: 0)) == .max)
        #expect(timespec(tv_sec: -2, tv_nsec: 0).seconds(since: timespec(tv_sec: .max, tv_nsec: 0)) == .min)
    }
}
