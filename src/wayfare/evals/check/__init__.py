"""Check what authors claim: that nodesets keep their contract and graphs don't feel workers."""
