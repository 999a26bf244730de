import ChildDecoding
import Testing

/// Zones of addresses, and allowed redirects.
@Suite struct AddressZoneTests {
    @Test(
        "an IPv4 address lies in the zone of its block, however it is wrapped",
        arguments: [
            ([127, 0, 0, 1], .loopback), ([127, 255, 255, 254], .loopback), ([10, 1, 2, 3], .local),
            ([172, 15, 0, 1], .everywhere), ([172, 16, 0, 1], .local), ([172, 31, 255, 255], .local),
            ([172, 32, 0, 1], .everywhere), ([192, 168, 0, 1], .local), ([192, 169, 0, 1], .everywhere),
            ([169, 254, 169, 254], .local), ([100, 63, 0, 1], .everywhere), ([100, 64, 0, 1], .local),
            ([0, 0, 0, 3], .unusable), ([224, 0, 0, 1], .unusable), ([255, 255, 255, 255], .unusable),
            ([8, 8, 8, 8], .everywhere),
        ] as [([UInt8], AddressZone)])
    func versionFour(_ bytes: [UInt8], _ zone: AddressZone) {
        let none = [UInt8](repeating: 0, count: 10)
        #expect(AddressZone(ipv4: bytes) == zone)
        #expect(AddressZone(ipv6: none + [0xFF, 0xFF] + bytes) == zone)
        #expect(AddressZone(ipv6: none + [0, 0] + bytes) == zone)
        #expect(AddressZone(ipv6: [0, 0x64, 0xFF, 0x9B] + none.prefix(8) + bytes) == zone)
        #expect(AddressZone(ipv6: [0x20, 0x02] + bytes + none) == zone)
        #expect(AddressZone(ipv6: [0x20, 0x01, 0, 0] + none.prefix(8) + bytes.map { ~$0 }) == zone)
    }

    @Test(
        "an IPv6 address lies in the zone of its block",
        arguments: [
            ([0, 0, 0, 0], 1, .loopback), ([0, 0, 0, 0], 0, .unusable), ([0xFE, 0x80, 0, 0], 1, .local),
            ([0xFC, 0, 0, 0], 1, .local), ([0xFD, 0x12, 0, 0], 1, .local), ([0x20, 0x01, 0x4C, 0], 1, .everywhere),
            ([0x2A, 0x02, 0, 0], 1, .everywhere), ([0x20, 0x01, 0x0D, 0xB8], 1, .unusable),
            ([0xFF, 0x02, 0, 0], 1, .unusable), ([0x40, 0, 0, 0], 1, .unusable),
        ] as [([UInt8], UInt8, AddressZone)])
    func versionSix(_ start: [UInt8], _ last: UInt8, _ zone: AddressZone) {
        #expect(AddressZone(ipv6: start + [UInt8](repeating: 0, count: 11) + [last]) == zone)
    }

    @Test("what is no address is nobody's")
    func wrongLength() {
        #expect(AddressZone(ipv4: [8, 8, 8]) == .unusable)
        #expect(AddressZone(ipv6: [8, 8, 8, 8]) == .unusable)
    }

    @Test("what lies farther does not lead to what lies nearer")
    func referrals() {
        for referrer in [nil, AddressZone.loopback, .local, .everywhere] {
            #expect(AddressZone.everywhere.isAllowed(from: referrer, mayUseLoopback: false))
            #expect(!AddressZone.unusable.isAllowed(from: referrer, mayUseLoopback: true))
            #expect(!AddressZone.loopback.isAllowed(from: referrer, mayUseLoopback: false))
        }
        #expect(AddressZone.local.isAllowed(from: nil, mayUseLoopback: false))
        #expect(AddressZone.local.isAllowed(from: .local, mayUseLoopback: false))
        #expect(AddressZone.local.isAllowed(from: .loopback, mayUseLoopback: false))
        #expect(!AddressZone.local.isAllowed(from: .everywhere, mayUseLoopback: true))
        #expect(AddressZone.loopback.isAllowed(from: nil, mayUseLoopback: true))
        #expect(AddressZone.loopback.isAllowed(from: .loopback, mayUseLoopback: true))
        #expect(!AddressZone.loopback.isAllowed(from: .local, mayUseLoopback: true))
        #expect(!AddressZone.loopback.isAllowed(from: .everywhere, mayUseLoopback: true))
    }
}
