package builder

import "encoding/binary"

// message is an encoded Protocol Buffers message.
type message []byte

func (m *message) tag(field, wire int) *message {
	*m = binary.AppendUvarint(*m, uint64(field)<<3|uint64(wire))
	return m
}

func (m *message) blob(field int, data message) message {
	m.tag(field, 2)
	*m = append(binary.AppendUvarint(*m, uint64(len(data))), data...)
	return *m
}

func (m *message) text(field int, text string) *message {
	if text != "" {
		m.blob(field, message(text))
	}
	return m
}

func (m *message) number(field int, value uint64) *message {
	if value != 0 {
		*m = binary.AppendUvarint(*m.tag(field, 0), value)
	}
	return m
}

// signed is sint64.
func (m *message) signed(field int, value int64) *message {
	*m = binary.AppendUvarint(*m.tag(field, 0), uint64(value<<1)^uint64(value>>63))
	return m
}

func (m *message) fixed32(field int, value uint32) *message {
	*m = binary.LittleEndian.AppendUint32(*m.tag(field, 5), value)
	return m
}

// with adds a column; an empty one is left out.
func (m message) with(field int, column message) message {
	if len(column) == 0 {
		return m
	}
	return m.blob(field, column)
}

func u32s[T any](rows []T, get func(T) uint32) (out message) {
	for _, row := range rows {
		out = binary.LittleEndian.AppendUint32(out, get(row))
	}
	return out
}

func u64s[T any](rows []T, get func(T) uint64) (out message) {
	for _, row := range rows {
		out = binary.LittleEndian.AppendUint64(out, get(row))
	}
	return out
}

func u8s[T any](rows []T, get func(T) uint8) (out message) {
	for _, row := range rows {
		out = append(out, get(row))
	}
	return out
}

func bit(set bool) uint8 {
	if set {
		return 1
	}
	return 0
}
