import Glibc

/// A path in a block of memory that has 20 bytes more than the path; an array has 32 more. For the items of a long queue:
/// `FilePath` is for all other paths.
package struct PackedPath: @unchecked Sendable {
    // @unchecked: nothing changes the bytes after `init`.
    private let block: ManagedBuffer<UInt32, UInt8>

    /// The same path.
    package init(_ path: FilePath) {
        block = path.bytes.withUnsafeBytes(Self.block)
    }

    /// The path with these bytes. Nil: one of them is zero.
    package init?(_ bytes: [UInt8]) {
        guard !bytes.withUnsafeBytes(FilePath.hasZero) else { return nil }
        block = bytes.withUnsafeBytes(Self.block)
    }

    private static func block(_ bytes: UnsafeRawBufferPointer) -> ManagedBuffer<UInt32, UInt8> {
        let block = ManagedBuffer<UInt32, UInt8>.create(minimumCapacity: bytes.count) { _ in UInt32(bytes.count) }
        block.withUnsafeMutablePointerToElements { target in
            UnsafeMutableRawBufferPointer(start: target, count: bytes.count).copyMemory(from: bytes)
        }
        return block
    }

    /// Number of bytes of the path.
    package var count: Int { block.withUnsafeMutablePointerToHeader { Int($0.pointee) } }

    /// The same path with its bytes in an array.
    package var path: FilePath { withBytes { FilePath(unchecked: Array($0)) } }

    /// Calls `body` with the bytes of the path, which are valid until it returns.
    package func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        block.withUnsafeMutablePointers { count, bytes in
            body(UnsafeBufferPointer(start: bytes, count: Int(count.pointee)))
        }
    }

    /// Number of bytes that both paths have at their start.
    package func commonStart(with other: PackedPath) -> Int {
        withBytes { mine in
            other.withBytes { other in
                let limit = min(mine.count, other.count)
                let (left, right) = (UnsafeRawBufferPointer(mine), UnsafeRawBufferPointer(other))
                var common = 0
                while common + 8 <= limit {
                    let difference =
                        left.loadUnaligned(fromByteOffset: common, as: UInt64.self)
                        ^ right.loadUnaligned(fromByteOffset: common, as: UInt64.self)
                    if difference != 0 { return common + difference.littleEndian.trailingZeroBitCount / 8 }
                    common += 8
                }
                while common < limit, left[common] == right[common] { common += 1 }
                return common
            }
        }
    }
}

extension PackedPath: Equatable {
    /// True if the bytes of both are the same.
    package static func == (a: PackedPath, b: PackedPath) -> Bool {
        a.withBytes { a in
            b.withBytes { b in a.count == b.count && (a.isEmpty || memcmp(a.baseAddress!, b.baseAddress!, a.count) == 0)
            }
        }
    }
}
