"""The rules of the public simulator sandtable: a warrior, a dungeon, one upgrade, churn."""
